def test_an_untouched_package_passes(books, export, check):
    assert check(export()) == ([], 0)
