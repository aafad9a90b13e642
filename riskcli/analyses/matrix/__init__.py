"""The score matrix itself, and the forms that it alone has."""

from riskcli.output import forms

JSON = forms.OwnForm("json", ".json", lambda matrices: matrices.as_json(), checksums=True)
PARQUET = forms.OwnForm(
    "parquet", ".parquet", lambda matrices: matrices.as_parquet(), checksums=True
)
FORMS = (*(JSON if form is forms.JSON else form for form in forms.FORMS), PARQUET)
"""Those of every result, JSON in the shape of the matrix, and Parquet."""
