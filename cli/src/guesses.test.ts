import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

it.each([
  ['keys show production', '(Did you mean get?)'],
  ['keys rm production', '(Did you mean revoke?)'],
  ['files create a.txt', '(Did you mean upload?)'],
  ['budgets list', '(Did you mean show?)'],
  ['budgets get production', '(Did you mean show?)'],
  ['invites create', '(Did you mean send?)'],
  ['runs ls', '(Did you mean list?)'],
  ['billing', '(Did you mean plans?)'],
  ['tts Hello', '(Did you mean speak?)'],
  ['audit list --from 1d', '(Did you mean --since?)'],
  ['image --out a.png', '(Did you mean --output?)'],
  ['chat --stream Hi', 'next: The answer of `tallygate chat` comes as it is made'],
  ['profiles use work', 'next: A profile is chosen for a line with --profile NAME'],
  ['models get gpt-4o-mini', 'next: Run `tallygate models MODEL`.'],
  ['config', 'next: `tallygate login` sets it up'],
])('says what was meant by "%s"', async (line, sentence) => {
  const { stderr, exitCode } = await terminal.type(line.split(' '));
  expect(stderr).toContain(sentence);
  expect(exitCode).toBe(2);
  expect(gateway.requests).toEqual([]);
});

it('keeps to the spelling where a word means nothing else', async () => {
  expect((await terminal.type(['keys', 'lst'])).stderr).toContain('(Did you mean list?)');
  expect((await terminal.type(['keys', 'frobnicate'])).stderr).not.toContain('Did you mean');
});
