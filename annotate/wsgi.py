import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
application = get_wsgi_application()

from annotate import durability  # noqa: E402 - only after Django's setup

durability.require()
