"""The codes of units (UN/ECE Recommendation 20 and 21) for the words that people write."""

import unicodedata

# What an unknown unit is: "one".
ONE = "C62"

# Without accents, in small letters and without a dot at the end; English, German, French, Spanish.
_WORDS = {
    "H87": "pc pcs pce pces piece pieces ea each stk stck st stuck stuecke stucke pieza pza uds ud"
    " unidad unidades unite unites unit units einheit einheiten",
    "SEC": "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos",
    "MIN": "min mins minute minutes minuten minuto minutos",
    "HUR": "h hr hrs hour hours std stunde stunden heure heures hora horas",
    "DAY": "d day days tag tage jour jours j dia dias",
    "E49": "working-day working-days workday workdays arbeitstag arbeitstage werktag werktage pt"
    " personentag personentage manntag manntage jour-homme jours-homme",
    "WEE": "wk week weeks woche wochen semaine semaines semana semanas",
    "MON": "mo month months monat monate mon mois mes meses",
    "QAN": "quarter quarters quartal quartale trimestre trimestres",
    "ANN": "y yr yrs year years jahr jahre an ans annee annees ano anos",
    "MMT": "mm millimeter millimetre millimetres milimetro milimetros",
    "CMT": "cm centimeter centimetre centimetres zentimeter centimetro centimetros",
    "MTR": "m meter meters metre metres metro metros",
    "LM": "lfm lfdm laufmeter",
    "KMT": "km kilometer kilometers kilometre kilometres kilometro kilometros",
    "MTK": "m2 qm sqm quadratmeter",
    "MTQ": "m3 cbm kubikmeter",
    "MLT": "ml milliliter millilitre mililitro",
    "LTR": "l ltr liter liters litre litres litro litros",
    "HLT": "hl hektoliter hectolitre hectolitro",
    "MGM": "mg",
    "GRM": "g gr gram grams gramm gramme grammes gramo gramos",
    "KGM": "kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos",
    "TNE": "t to ton tons tonne tonnes tonnen tonelada toneladas",
    "KWH": "kwh",
    "MWH": "mwh",
    "E34": "gb gigabyte gigabytes",
    "E35": "tb terabyte terabytes",
    "SET": "set sets satz satze juego juegos jeu jeux",
    "PR": "pair pairs paar paire paires par pares",
    "DZN": "dozen dutzend douzaine docena",
    "XBX": "box boxes karton kartons kiste kisten boite boites caja cajas",
    "XPK": "pkg package packages pack packs packung packungen paket pakete paquet paquets paquete"
    " paquetes",
    "XPX": "pallet pallets palette paletten palettes pale pales",
    "XRO": "roll rolls rolle rollen rouleau rouleaux rollo rollos",
    "LS": "ls flat lump-sum pauschal pauschale psch forfait alzado",
    "P1": "%",
}
_CODES = {word: code for code, words in _WORDS.items() for word in words.split()}


def unit_code(written: str) -> str:
    """Return the code of a unit as people write it: "HUR" for "Std.", "MTK" for "m²"."""
    decomposed = unicodedata.normalize("NFKD", written.casefold())
    word = "".join(each for each in decomposed if not unicodedata.combining(each))
    return _CODES.get("-".join(word.rstrip(".").split()), ONE)
