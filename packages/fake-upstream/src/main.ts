import { parseArgs } from 'node:util';
import { startFakeUpstream } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    delay: { type: 'string', default: '0' },
    chunks: { type: 'string', default: '8' },
    gap: { type: 'string', default: '0' },
  },
});

const fake = await startFakeUpstream({
  port: Number(values.port),
  record: false,
  fallback: { delayMs: Number(values.delay), tokens: Number(values.chunks), gapMs: Number(values.gap) },
});
process.stdout.write(`${JSON.stringify({ url: fake.url })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void fake.close());
