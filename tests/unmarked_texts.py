"""Finds texts for people that no catalogue can translate, since they are not marked.

It knows texts by where they stand: in a template between tags and in the attributes that are read
aloud, in a module as labels and messages, and anywhere as a sentence. `python -m
tests.unmarked_texts [part of a path]` prints what it finds.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from config.environment import PROJECT_FOLDER
from tests.translations import PAGES, find_sources

# Names and codes that are the same in each language.
SAME = {
    *("Invoicing", "PDF", "XML", "CSV", "ZIP", "DATEV", "UTC", "IBAN", "BIC", "SHA", "MCP", "HTTP"),
    *(
        "Factur",
        "XRechnung",
        "Peppol",
        "BIS",
        "Billing",
        "ZUGFeRD",
        "Leitweg",
        "ID",
        "EN",
        "JSON",
        "nbsp",
    ),
}

# What only programs and operators read, which is English, and what is in a document's language.
OTHER_READERS = (
    *("config/", "invoicing/agent_tools/", "invoicing/management/", "invoicing/migrations/"),
    *("invoicing/sample_company/", "invoicing/quickstart/", "invoicing/pdf/", "invoicing/search/"),
    *("invoicing/paper/labels.py", "invoicing/tax_wordings.py", "invoicing/evidence/evidence.py"),
    *("invoicing/errors.py", "invoicing/e_invoices/cii.py", "invoicing/e_invoices/ubl.py"),
    *("invoicing/models/documents.py", "invoicing/models/search_words.py", "invoicing/apps.py"),
    # What a schema says of fields, what a log says of exports, and what a command says of files.
    *("invoicing/draft_fields.py", "invoicing/field_kinds.py", "invoicing/shown.py"),
    *("invoicing/administration/exports.py", "invoicing/originals/folders.py"),
    # The headers of files that are known, in two languages.
    *("invoicing/customer_imports/columns.py", "templates/invoicing/quickstart.txt"),
)
# Modules among these that people read all the same.
ALSO_PEOPLE = ("invoicing/agent_tools/approval_texts.py",)

COMMENT = re.compile(r"\{#.*?#\}|\{% comment.*?endcomment %\}|<!--.*?-->", re.DOTALL)
BLOCK = re.compile(r"\{% blocktrans(?:late)? .*?endblocktrans(?:late)? %\}", re.DOTALL)
BARE_BLOCK = re.compile(r"\{% blocktrans(?:late)? %\}.*?endblocktrans(?:late)? %\}", re.DOTALL)
# What is typed or run is the same in each language, and so is what a class is called.
LITERAL = re.compile(
    r"<(code|pre|kbd|samp|script|style)\b.*?</\1>"
    r"|\{% block (?:width|html|bodyclass|coltype|arrival) %\}.*?\{% endblock",
    re.DOTALL,
)
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
ELEMENT = re.compile(r"<[^>]*>", re.DOTALL)
ENTITY = re.compile(r"&\w+;")
ATTRIBUTE = re.compile(
    r"\b(?:title|alt|placeholder|aria-label|aria-description|data-copied|data-label|data-say[\w-]*)"
    r'="([^"]*)"'
)
MARKED = re.compile(r"""_\(\s*("[^"]*"|'[^']*')\s*\)""")
QUOTED = re.compile(r'"([^"]*)"')
CODE_TAGS = re.compile(
    r"\{%\s*(?:url|static|load|extends|trans|get_|block|endblock|csrf|if|elif|for)"
)
WORD = re.compile(r"[^\W\d_]{2,}")
SENTENCE = re.compile(r"[A-Z“\"'].*\s.*[.?!:…]\s*", re.DOTALL)
LABEL = re.compile(r"[A-Z][a-z]+|\w+ \w+")

GETTEXT = re.compile(r"_|n?p?gettext(?:_lazy|_noop)?")
TEXT_KEYWORDS = {
    *("label", "help_text", "verbose_name", "verbose_name_plural", "description", "empty_label"),
    *("title", "heading", "question", "button", "short_description", "violation_error_message"),
    *("consequences", "nothing", "message", "hint", "subject", "name_plural"),
}
# By function: which of its arguments is a text.
TEXT_ARGUMENTS = {
    "ValidationError": 0,
    "MistypedNumberError": 0,
    "add_error": 1,
    "message_user": 1,
    **dict.fromkeys(("success", "info", "warning", "error"), 1),
    "Section": 0,
}
LOGS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
# What a programmer or an operator reads.
OWN_ERRORS = re.compile(
    r"(Value|Type|Key|Runtime|Lookup|Assertion|Command|NotImplemented)Error|Improp"
)
RELATIONS = {"ForeignKey", "OneToOneField", "ManyToManyField"}


def list_files() -> list[Path]:
    """Return the modules and templates of which people read something."""
    return [path for path in find_sources(PAGES) if not _is_for_others(name_of(path))]


def name_of(path: Path) -> str:
    return path.relative_to(PROJECT_FOLDER).as_posix()


def _is_for_others(name: str) -> bool:
    return name.startswith(OTHER_READERS) and name not in ALSO_PEOPLE


def find_unmarked(path: Path) -> list[str]:
    """Return the texts of a file that are not marked, each once."""
    text = path.read_text(encoding="utf-8")
    found = _find_in_module(text) if path.suffix == ".py" else _find_in_template(text)
    return list(dict.fromkeys(each.strip() for each in found))


def _find_in_template(text: str) -> Iterator[str]:
    text = MARKED.sub("", BARE_BLOCK.sub("", BLOCK.sub("", COMMENT.sub("", text))))
    for tag in TAG.findall(text):
        if not CODE_TAGS.match(tag):
            yield from filter(_is_label, QUOTED.findall(tag))
    plain = LITERAL.sub("\n", text)
    for attribute in ATTRIBUTE.findall(TAG.sub("", plain)):
        if _has_words(attribute):
            yield attribute
    for piece in ELEMENT.sub("\n", TAG.sub("\n", plain)).splitlines():
        if _has_words(piece):
            yield piece


def _is_label(text: str) -> bool:
    is_file = re.search(r"\.(html|css|js|svg|txt)$", text)
    return bool(not is_file and LABEL.match(text) and _has_words(text))


def _has_words(text: str) -> bool:
    return bool(set(WORD.findall(ENTITY.sub("", text))) - SAME)


def _find_in_module(text: str) -> Iterator[str]:
    yield from _find_below(ast.parse(text))


def _find_below(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        if _is_marked_or_for_others(node):
            return
        yield from _find_in_call(node)
    if isinstance(node, ast.ClassDef):
        yield from _find_in_class(node)
    if isinstance(node, ast.Assign | ast.AnnAssign) and _names_a_text(node):
        yield from _unmarked(node.value)
    if isinstance(node, ast.JoinedStr | ast.Constant):
        yield from _find_sentence(node)
        return
    for child in ast.iter_child_nodes(node):
        if not _is_docstring(child, node):
            yield from _find_below(child)


def _find_sentence(node: ast.JoinedStr | ast.Constant) -> Iterator[str]:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [each.value if isinstance(each, ast.Constant) else "{}" for each in parts]
    text = "".join(each for each in texts if isinstance(each, str))
    if SENTENCE.fullmatch(text) and _has_words(text):
        yield text


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_marked_or_for_others(node: ast.Call) -> bool:
    """Return whether it is a call of gettext, or what a programmer or an operator reads."""
    name = _name_of(node.func)
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    is_log = name in LOGS and isinstance(owner, ast.Name) and owner.id == "logger"
    return bool(is_log or GETTEXT.fullmatch(name) or OWN_ERRORS.match(name))


def _is_docstring(child: ast.AST, parent: ast.AST) -> bool:
    is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
    return is_text and isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef)


def _names_a_text(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [
        each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in targets
    ]
    return any(name in TEXT_KEYWORDS for name in names)


def _unmarked(node: ast.AST | None) -> Iterator[str]:
    """Yield what is a text where one is expected, be it one word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _has_words(node.value):
        yield node.value
    elif isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            yield from _unmarked(each)
    elif isinstance(node, ast.IfExp):
        yield from _unmarked(node.body)
        yield from _unmarked(node.orelse)
    elif isinstance(node, ast.JoinedStr):
        words = [each.value for each in node.values if isinstance(each, ast.Constant)]
        if _has_words(" ".join(map(str, words))):
            yield "{}".join(map(str, words))


def _find_in_call(node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg in TEXT_KEYWORDS:
            yield from _unmarked(keyword.value)
        if keyword.arg == "error_messages" and isinstance(keyword.value, ast.Dict):
            for value in keyword.value.values:
                yield from _unmarked(value)
    place = TEXT_ARGUMENTS.get(_name_of(node.func))
    if place is not None and len(node.args) > place:
        yield from _unmarked(node.args[place])


def _find_in_class(node: ast.ClassDef) -> Iterator[str]:
    bases = {_name_of(base) for base in node.bases}
    if "Func" in bases:  # whose field is of no record
        return
    is_choice = "TextChoices" in bases
    for each in node.body:
        if not (isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)):
            continue
        value, name = each.value, each.targets[0].id
        if is_choice:
            yield from _find_in_choice(value, name)
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            yield from _find_in_field(value, name)


def _find_in_choice(value: ast.expr, name: str) -> Iterator[str]:
    """Yield a label of TextChoices, or that Django makes one of the name."""
    if isinstance(value, ast.Tuple):
        yield from _unmarked(value.elts[-1])
    else:
        yield f"the label of {name}"


def _find_in_field(value: ast.Call, name: str) -> Iterator[str]:
    """Yield a field's label, or that Django makes one of the name of a form's field.

    What Django names in models, invoicing/models/words.py names for people.
    """
    kind, owner = _name_of(value.func), value.func.value  # type: ignore[attr-defined]  # an attribute
    module = owner.id if isinstance(owner, ast.Name) else ""
    keywords = {each.arg: each.value for each in value.keywords}
    if module == "forms" and kind.endswith("Field"):
        is_hidden = _name_of(keywords.get("widget", ast.Name(""))) == "HiddenInput"
        if "label" not in keywords and not is_hidden:
            yield f"the label of {name}"
    if module == "models" and (kind.endswith("Field") or kind in RELATIONS):
        first = value.args[0] if value.args and kind not in RELATIONS else None
        yield from _unmarked(first)


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    for path in list_files():
        if part in name_of(path):
            for text in find_unmarked(path):
                print(f"{name_of(path)}: {text}")  # noqa: T201  its answer


if __name__ == "__main__":
    main()
