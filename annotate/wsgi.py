import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
of_django = get_wsgi_application()

from annotate.database import durability  # noqa: E402 - only after Django's setup
from annotate.server.encoding import only_utf8  # noqa: E402

durability.require()
application = only_utf8(of_django)
