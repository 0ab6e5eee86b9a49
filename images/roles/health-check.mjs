// Exit 0 when the role of this container says that it is ready.
const { listen } = JSON.parse(process.env.SECKILL_ROLE_CONFIG ?? '{}');
const answer = await fetch(`http://${listen?.host ?? '127.0.0.1'}:${listen?.port ?? 0}/healthz`).catch(() => null);
process.exitCode = answer?.ok === true ? 0 : 1;
