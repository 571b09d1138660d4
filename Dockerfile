# The core on a CPU, as a user without rights:
#     docker build -t truemoment .
#     docker run --rm -v "$PWD:/work" truemoment demo --no-open
# With PyTorch and more: docker build --build-arg EXTRAS=search -t truemoment .
FROM python:3.13-slim AS build
ARG EXTRAS=""
WORKDIR /source
RUN python -m venv /opt/truemoment
COPY requirements/build.txt requirements/core.txt requirements/
RUN for lock in build core; do \
      /opt/truemoment/bin/pip install --no-cache-dir --require-hashes --no-deps -r requirements/$lock.txt; \
    done
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/truemoment/bin/pip install --no-cache-dir --no-build-isolation ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.13-slim
COPY --from=build /opt/truemoment /opt/truemoment
ENV PATH=/opt/truemoment/bin:$PATH
RUN useradd --create-home --uid 1000 truemoment && install --directory --owner truemoment /work
USER truemoment
WORKDIR /work
ENTRYPOINT ["truemoment"]
CMD ["demo", "--no-open"]
