// An answer as it is written. A stream that breaks off throws, so what is whole is whole.
import { Tallygate } from '@tallygate/sdk';

const tallygate = new Tallygate();
const stream = await tallygate.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Tell me a story.' }],
  stream: true,
  stream_options: { include_usage: true },
});
for await (const { choices, usage } of stream) {
  process.stdout.write(choices[0]?.delta.content ?? '');
  if (usage) console.log(`\n${usage.cost?.toFixed(9)} USD`);
}
