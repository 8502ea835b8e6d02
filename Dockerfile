# One image for every process of an installation: web, worker, and the release step that migrates.
ARG PYTHON_IMAGE=python:3.11.15-slim-bookworm
FROM ${PYTHON_IMAGE}

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PREFERENDUM_NO_VENV=1 \
    PREFERENDUM_DATA=/data \
    PREFERENDUM_LOG_FORMAT=json \
    OPENBLAS_NUM_THREADS=1

WORKDIR /app
# For `manage.py backup`; Debian's version is the one of the database in docker-compose.yml.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client=15+* \
    && rm -rf /var/lib/apt/lists/*
COPY requirements/run.txt requirements/run.txt
RUN pip install --require-hashes -r requirements/run.txt
COPY . .
# Any other user of the group 0 may run it, too: some clusters give each container a number of its own.
RUN useradd --uid 10001 --no-create-home preferendum \
    && mkdir -p /data/files /data/static /data/temporary \
    && chown -R preferendum:0 /data && chmod -R g=u /data
# Archives and uploads on their way are too large for the memory that holds /tmp in docker-compose.yml.
ENV TMPDIR=/data/temporary
USER 10001

CMD ["deploy/web"]
