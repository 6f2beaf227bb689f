import { parseArgs } from 'node:util';
import { startFakeStripe } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'webhook-url': { type: 'string' },
    'webhook-secret': { type: 'string', default: 'whsec_fake' },
  },
});

const url = values['webhook-url'];
const fake = await startFakeStripe({
  port: Number(values.port),
  ...(url !== undefined && { webhook: { url, secret: values['webhook-secret'] } }),
});
process.stdout.write(`${JSON.stringify({ url: fake.url })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void fake.close());
