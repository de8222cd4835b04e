FROM python:3.14.10-slim-trixie AS builder
WORKDIR /app
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY requirements.txt ./
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement requirements.txt
COPY manage.py ./
COPY agent_access agent_access
COPY config config
COPY deploy deploy
COPY invoicing invoicing
COPY mcp_gateway mcp_gateway
COPY templates templates
# The service must read what a checkout under umask 077 keeps to its owner.
RUN SECRET_KEY=signs-nothing-while-the-static-files-are-collected python manage.py collectstatic --noinput --verbosity 0 \
    && python -m compileall -q . \
    && chmod -R a+rX .

FROM python:3.14.10-slim-trixie
WORKDIR /app
# The service owns no file, and needs to write none.
RUN useradd --system --no-create-home --shell /usr/sbin/nologin --uid 10001 invoicing
COPY --from=builder /opt/venv /opt/venv
COPY --from=builder /app /app
# The last one has the C library give back the 16 MiB that checking a password takes; every thread
# would keep them for good.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    LOG_FORMAT=json \
    MALLOC_MMAP_THRESHOLD_=1048576
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
CMD ["granian", "--interface", "wsgi", "--no-ws", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--blocking-threads", "8", "--respawn-failed-workers", "--workers-kill-timeout", "20", "--log-config", "deploy/granian.json", "config.wsgi:application"]
