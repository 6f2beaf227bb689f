import { expect, test } from 'vitest';
import { explore } from './checker.ts';
import { type Handover, handoverModel } from './handover.ts';

const check = (how: Handover) => explore(handoverModel(how), 10_000);

test('a hand-over to a second provider charges each hold once, whenever its gateway dies or Redis is lost', () => {
  const { counterexample, states } = check({ order: 'call first', known: 'by attempt and receipt' });
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(200);
});

test('a ledger that compares attempts alone charges twice what a journal has under an older one', () => {
  const { counterexample } = check({ order: 'call first', known: 'by attempt' });
  expect(counterexample).toEqual({
    fault: 'a hold is charged twice',
    trace: [
      ...['step 1 of the hand-over', 'step 2 of the hand-over', 'the gateway dies'],
      ...['the doubt of the call ends', 'the next process ends the call'],
    ],
  });
});

test('two holds that are begun under one attempt leave more on the lane than in the ledger', () => {
  const { counterexample } = check({ order: 'left first', known: 'by attempt and receipt' });
  expect(counterexample?.fault).toBe('the lane has 2, and the ledger 1');
  expect(counterexample?.trace.slice(0, 3)).toEqual(['step 1 of the hand-over', 'step 2 of the hand-over', 'the gateway dies']);
});
