# The product: controllers, deployers, and the programs of the container deployer's pods.
#
#     docker build -t espalier:0.1.0 .
#
# The image has no shell and no package manager: it consists of Node.js, the libraries that it needs, and the product.
# The platform of the machine that builds. BuildKit sets it; older versions of buildah need --build-arg for other platforms.
ARG BUILDPLATFORM
ARG NODE_IMAGE=node:26.10.0-slim

# The image of the target's platform: nothing runs in it, so any machine can build for any platform. A stage without an
# instruction would be that of the platform of the build, with some versions of buildah.
FROM ${NODE_IMAGE} AS target
LABEL stage=target

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY hack/build.mjs hack/bundle.mjs hack/compact.mjs hack/declarations.mjs hack/
COPY hack/image hack/image
COPY src src
COPY controllers controllers
COPY deployers deployers
COPY web web
RUN node hack/build.mjs \
 && npm sbom --package-lock-only --sbom-format=cyclonedx > all.cdx.json \
 && node hack/image/sbom.mjs dist/bundled.json < all.cdx.json > sbom.cdx.json \
 && node hack/image/prune.mjs dist

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS packages
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY hack/image hack/image
RUN npm ci --omit=dev
RUN node hack/image/prune.mjs node_modules

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS runtime
ARG TARGETARCH
COPY hack/image /hack/image
COPY --from=target / /target
RUN mkdir -p -m 1777 /runtime/tmp \
 && mkdir -p /runtime/etc /runtime/app \
 && echo 'espalier:x:1000:1000::/app:/usr/local/bin/node' > /runtime/etc/passwd \
 && echo 'espalier:x:1000:' > /runtime/etc/group \
 && echo 'hosts: files dns' > /runtime/etc/nsswitch.conf \
 && node /hack/image/libraries.mjs /target /runtime /usr/local/bin/node $TARGETARCH \
 && printf '#!/usr/local/bin/node\nimport("/app/dist/src/cli/main.js");\n' > /runtime/usr/local/bin/espalier \
 && chmod 755 /runtime/usr/local/bin/espalier \
 && ln -s /usr/local/bin /runtime/bin

FROM scratch
LABEL org.opencontainers.image.title="Espalier" \
      org.opencontainers.image.description="Hierarchical installation controller for Kubernetes, compatible with Gardener Landscaper" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production PATH=/usr/local/bin
COPY --from=runtime /runtime /
WORKDIR /app
COPY --from=packages /src/node_modules node_modules
COPY --from=build /src/sbom.cdx.json ./
COPY --from=build /src/dist dist
COPY package.json LICENSE NOTICE ./
COPY charts charts
COPY docs/samples docs/samples
# Pods of the container deployer run as 1000 anyway; a number is what Kubernetes can check.
USER 1000:1000
ENTRYPOINT ["espalier"]
CMD ["--help"]
