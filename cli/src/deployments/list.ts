import type { DeploymentHealth } from '@tallygate/sdk';
import type { Command } from 'commander';
import { alsoAsList, type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { DeploymentHealthFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const COLUMNS: readonly Column<DeploymentHealth>[] = [
  { title: 'model', of: ({ model }) => model },
  { title: 'deployment', of: ({ deployment }) => deployment },
  { title: 'state', of: ({ state }) => state },
  { title: 'until', of: ({ open_until }) => open_until },
  { title: 'calls', of: ({ recent_calls }) => recent_calls, align: 'right' },
  { title: 'failed', of: ({ recent_failures }) => recent_failures, align: 'right' },
  { title: 'ms', of: ({ latency_ms }) => (latency_ms === null ? null : Math.round(latency_ms)), align: 'right' },
  {
    title: 'last failure',
    of: ({ last_failure }) => last_failure && `${last_failure.kind} ${last_failure.status ?? ''} ${last_failure.at}`,
  },
];

export const listDeployments = (command: Command, perform: Perform): Command =>
  alsoAsList(withJson(DeploymentHealthFields, withPages(command)), perform(list));

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { deployments } = await world.connect('session');
  await printPages(world, options, { columns: COLUMNS, list: (limit) => deployments.list({ limit }, { signal: world.signal }) });
}
