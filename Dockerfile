# The image of the role processes: `seckill-lab images build --roles`, which also writes into it which code it holds.
# A context that was installed and built (npm ci) needs no network; any other one is installed and built here.
ARG NODE_IMAGE=node:20-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY . .
RUN [ -d node_modules ] || npm ci
RUN [ -d dist ] || npm run build
# Without what only the lab and the developers use.
RUN node images/roles/collect-runtime.mjs /runtime

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /runtime /app
USER node
# The address is in the role's own configuration.
HEALTHCHECK --interval=2s --timeout=2s --start-period=20s CMD ["node", "images/roles/health-check.mjs"]
CMD ["node", "dist/system/main.js"]
