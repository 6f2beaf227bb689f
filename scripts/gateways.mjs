// Gateways in one process, which starts and stops them by messages: for tests, which start a hundred of them. It takes a third of
// the time of separate processes, since loaded and compiled code is shared.
import { pathToFileURL } from 'node:url';
import { builtServer } from './server-build.mjs';

const { readConfig, startServer } = await import(pathToFileURL(builtServer('app')).href);
/** By the ids that the messages have. */
const running = new Map();

// The sender of the messages has died: nobody could stop them any more.
process.once('disconnect', () => process.exit());
process.on('message', ({ id, env, frozenAtMs }) => {
  const done = env === undefined ? stop(id) : start(id, env, frozenAtMs);
  done.then(
    (url) => process.send({ id, url }),
    (error) => process.send({ id, failure: error.stack ?? String(error) }),
  );
});

async function start(id, env, frozenAtMs) {
  const onFatal = () => process.send({ id, failure: 'The gateway has lost what it cannot go on without' });
  const clock = frozenAtMs === undefined ? undefined : { now: () => frozenAtMs };
  const server = await startServer(readConfig(env), onFatal, clock);
  running.set(id, server);
  return server.url;
}

async function stop(id) {
  await running.get(id).close();
  running.delete(id);
}
