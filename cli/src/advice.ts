import type { Command } from 'commander';
import { isClose } from './close-names.ts';
import type { CommandWorld } from './command.ts';
import { keptModels } from './completion/completion.ts';
import { connect } from './connect.ts';
import type { FailureReport } from './failure.ts';
import type { World } from './world.ts';

type AdviceWorld = World & Pick<CommandWorld, 'profile' | 'baseUrl'>;

/** What is only advice must not keep anybody waiting. */
const PATIENCE_MS = 1_500;

/**
 * The next step that the line itself makes better: the model that was probably meant, or where the ids are.
 *
 * @param line what was typed, the command of its first word, and the whole command as far as there is one
 */
export async function withAdvice(
  report: FailureReport,
  { argv, noun, command }: { readonly argv: readonly string[]; readonly noun: Command | undefined; readonly command: string },
  world: AdviceWorld,
): Promise<FailureReport> {
  if (report.code === 'model_not_found') return withModelMeant(report, argv, world);
  const isRefusedId = report.code === 'validation_failed' && report.errors?.[0]?.loc[0] === 'path';
  if (report.code === 'validation_failed' && !isRefusedId) return { ...report, next_step: `\`${command} --help\` says what it takes.` };
  const hasList = noun?.commands.some((each) => each.name() === 'list') ?? false;
  if (!hasList || noun === undefined || !(isRefusedId || report.code === 'not_found')) return report;
  const where = `The ids are in \`tallygate ${noun.name()} list\`.`;
  if (isRefusedId) return { ...report, next_step: where };
  const late = noun.name() === 'receipts' ? ['A receipt exists a moment after its answer.'] : [];
  return { ...report, next_step: [report.next_step, where, ...late].join(' ').trim() };
}

/** An unknown model ID is often one letter away from a known one. */
async function withModelMeant(report: FailureReport, argv: readonly string[], world: AdviceWorld): Promise<FailureReport> {
  const kept = await keptModels(world);
  const models = kept.length > 0 ? kept : await publishedModels(world).catch(() => []);
  const close = models.filter((model) => argv.some((word) => word.length > 2 && isClose(model, word)));
  return close.length === 0
    ? report
    : { ...report, next_step: `Did you mean ${close.slice(0, 3).join(' or ')}? ${report.next_step ?? ''}`.trim() };
}

/** The models with public prices; they are stored only after a login. */
async function publishedModels(world: AdviceWorld): Promise<string[]> {
  const client = await connect(world, 'none');
  const { data } = await client.models.prices({ signal: AbortSignal.any([world.signal, AbortSignal.timeout(PATIENCE_MS)]) });
  return [...new Set(data.map(({ id }) => id))];
}
