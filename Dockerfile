# docker build -t heddle .
# docker run --init -i -v heddle:/var/lib/heddle -v "$PWD:/workspace" heddle
# To sandbox commands, the container must be able to create namespaces: --security-opt seccomp=unconfined
# --security-opt apparmor=unconfined --security-opt systempaths=unconfined. Without it, commands that need a sandbox are refused.
# The container's stdin and stdout carry the protocol. The project is in /workspace, and the state is in the volume.

FROM node:22-bookworm-slim AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates g++ git make python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts && npm rebuild better-sqlite3
COPY . .
RUN node bin/setup.js \
  && npm prune --omit=dev --ignore-scripts \
  && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/build/Release/obj* dist/lib

FROM node:22-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git ripgrep \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node /var/lib/heddle /workspace \
  && ln -s /opt/heddle/bin/heddle.js /usr/local/bin/heddle
WORKDIR /opt/heddle
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/bin bin
COPY --from=build /build/migrations migrations
COPY --from=build /build/schema/*.json schema/
COPY --from=build /build/dist dist
ENV NODE_ENV=production HEDDLE_HOME=/var/lib/heddle
VOLUME /var/lib/heddle
USER node
WORKDIR /workspace
# `docker run … heddle doctor` runs another command.
ENTRYPOINT ["heddle"]
CMD ["app-server"]
