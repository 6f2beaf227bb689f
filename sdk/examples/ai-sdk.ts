// A tool call through the AI SDK, with the cost of each step.
import { metadataOf, tallygate } from '@tallygate/sdk/ai';
import { generateText, stepCountIs, tool } from 'ai';
import * as z from 'zod';

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `Sunny in ${city}.`,
});
const { text, steps } = await generateText({
  model: tallygate('gpt-4o-mini'),
  prompt: 'What is the weather in Bern?',
  tools: { weather },
  stopWhen: stepCountIs(3),
});
console.log(text);
for (const step of steps) console.log(`${step.finishReason}: ${metadataOf(step.providerMetadata)?.costUsd} USD`);
