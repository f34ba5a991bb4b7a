# The product with its production packages: controllers, deployers, and the programs of the container deployer's pods.
#
#     docker build -t espalier:0.1.0 .
#
# Releases of Helm need the helm program, which is not part of this image: build one on top of it that has helm on its PATH.
ARG NODE_IMAGE=node:20.19.5-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY hack/build.mjs hack/
COPY src src
COPY controllers controllers
COPY deployers deployers
RUN node hack/build.mjs

FROM ${NODE_IMAGE} AS packages
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /src/node_modules node_modules
COPY --from=build /src/dist dist
COPY package.json LICENSE NOTICE ./
COPY crds crds
COPY docs/samples docs/samples
RUN ln -s /app/dist/src/cli/main.js /usr/local/bin/espalier
# Pods of the container deployer run as 1000 anyway; a number is what Kubernetes can check.
USER 1000:1000
ENTRYPOINT ["espalier"]
CMD ["--help"]
