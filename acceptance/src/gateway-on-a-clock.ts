import { readConfig, startServer } from '../../server/src/app/index.ts';

/** The server as its users run it, at a moment that does not pass: `FROZEN_AT_MS`, epoch milliseconds. */
const frozenAtMs = Number(process.env['FROZEN_AT_MS']);
const stop = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve());
const server = await startServer(readConfig(), stop.resolve, { now: () => frozenAtMs });
process.stdout.write(`Tallygate is listening on ${server.url}\nStop with Ctrl-C.\n`);
await stop.promise;
await server.close();
process.exit();
