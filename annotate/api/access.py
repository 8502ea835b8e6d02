"""Who calls the API: a token, or a signed-in browser. What nobody allowed is denied."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


class DenyAll(BasePermission):
    """The default: a view that names no permission answers nobody."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`."""

    def authenticate(self, request: Request) -> None:
        return None
