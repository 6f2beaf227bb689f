import { expect, it } from 'vitest';
import { traitsOf } from './model-traits.ts';

it.each([
  ['claude-3-5-sonnet-20241022', { thinking: 'none', samplingFields: 2, hasOutputFormat: false }],
  ['claude-3-7-sonnet-latest', { thinking: 'budget', samplingFields: 2, hasOutputFormat: false }],
  ['claude-opus-4-20250514', { thinking: 'budget', samplingFields: 2, hasOutputFormat: false }],
  ['claude-opus-4-1', { thinking: 'budget', samplingFields: 1, hasOutputFormat: false }],
  ['claude-haiku-4-5-20251001', { thinking: 'budget', samplingFields: 1, hasOutputFormat: true }],
  ['anthropic/claude-sonnet-4.6', { thinking: 'adaptive', samplingFields: 1, hasOutputFormat: true, hidesThoughts: false }],
  ['claude-opus-4-8', { thinking: 'adaptive', samplingFields: 0, hidesThoughts: true, thinksByDefault: 'no' }],
  ['claude-opus-5', { thinking: 'adaptive', samplingFields: 0, thinksByDefault: 'yes' }],
  ['claude-haiku-5-5', { thinking: 'adaptive', samplingFields: 0, thinksByDefault: 'yes' }],
  ['claude-fable-5', { thinking: 'adaptive', samplingFields: 0, thinksByDefault: 'always' }],
  ['a-name-of-the-operator', { thinking: 'adaptive', samplingFields: 0, hasOutputFormat: true }],
])('knows what %s takes', (model, expected) => {
  expect(traitsOf(model)).toMatchObject(expected);
});
