import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startWitness } from './server.ts';

const USAGE = 'Usage: witness --name witness.example --log <verifier key of a log> [--folder .witness] [--host 127.0.0.1] [--port 8788]\n';
const { name = usage(), log: logs, folder, host, port } = options();

function options() {
  const options = {
    name: { type: 'string' },
    log: { type: 'string', multiple: true, default: [] as string[] },
    folder: { type: 'string', default: '.witness' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8788' },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return usage(error instanceof Error ? `${error.message}\n` : '');
  }
}

function usage(what = ''): never {
  process.stderr.write(`${what}${USAGE}`);
  process.exit(2);
}

const keyFile = join(folder, 'witness.key');
mkdirSync(folder, { recursive: true, mode: 0o700 });
if (!existsSync(keyFile)) writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
const seed = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');

const witness = await startWitness({ name, seed, logs, folder, host, port: Number(port) });
process.stdout.write(`${JSON.stringify({ url: witness.url, verifier_key: witness.verifierKey })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void witness.close());
