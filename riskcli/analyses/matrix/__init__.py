"""The score matrix itself, and the forms that it alone has."""

from riskcli.output import forms

JSON = forms.OwnForm("json", ".json", lambda matrices: matrices.as_json(), checksums=True)
PARQUET = forms.OwnForm(
    "parquet", ".parquet", lambda matrices: matrices.as_parquet(), checksums=True
)
_OWN: dict[forms.Form, forms.Form] = {forms.JSON: JSON, forms.PARQUET: PARQUET}
FORMS = tuple(_OWN.get(form, form) for form in forms.FORMS)
"""Those of every result, JSON in the shape of the matrix, and Parquet."""
