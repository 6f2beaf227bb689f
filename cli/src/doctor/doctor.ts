import { styleText } from 'node:util';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Column, plainText, printList } from '../print.ts';
import { checkComputer } from './computer.ts';
import { checkBudgets, checkCredential, checkPlan } from './credential.ts';
import { attempt, type Finding } from './finding.ts';
import { checkAddress, checkGateway } from './gateway.ts';
import { checkService } from './service.ts';

const COLUMNS: readonly Column<Finding>[] = [
  { title: 'check', of: ({ check }) => check },
  { title: 'status', of: ({ status }) => status },
  { title: 'detail', of: ({ detail }) => detail },
  { title: 'next step', of: ({ next_step }) => next_step },
];

const COLORS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export const doctor = (command: Command, perform: Perform): Command =>
  withJson(['check', 'status', 'detail', 'next_step'], command).action(perform(examine));

async function examine(world: CommandWorld): Promise<ExitCode> {
  const findings: Finding[] = [];
  const isForPeople = world.out.isTty && world.jsonFields === undefined;
  const add = (found: readonly Finding[]): boolean => {
    findings.push(...found);
    if (isForPeople) for (const each of found) world.out.write(lineOf(each, world.env.hasColor));
    return found.every(({ status }) => status !== 'fail');
  };
  add(checkComputer(world));
  const isReached =
    add(await attempt(world, 'address', () => checkAddress(world))) && add(await attempt(world, 'gateway', () => checkGateway(world)));
  // What follows would only say the same again.
  if (isReached && add(await attempt(world, 'credential', () => checkCredential(world)))) {
    add(await attempt(world, 'budgets', () => checkBudgets(world)));
    add(await attempt(world, 'plan', () => checkPlan(world)));
    add(await attempt(world, 'request', () => checkService(world)));
  }
  if (!isForPeople) printList(world, findings, COLUMNS);
  return findings.some(({ status }) => status === 'fail') ? EXIT.failure : EXIT.ok;
}

function lineOf({ check, status, detail, next_step: next }: Finding, hasColor: boolean): string {
  const mark = status.padEnd(4);
  const shown = hasColor ? styleText(COLORS[status], mark, { validateStream: false }) : mark;
  return `${shown}  ${check.padEnd(10)}  ${plainText(detail)}\n${next === null ? '' : `${' '.repeat(18)}next: ${next}\n`}`;
}
