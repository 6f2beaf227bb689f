import { isClose } from './close-names.ts';
import type { CommandWorld } from './command.ts';
import { keptModels } from './completion/completion.ts';
import { connect } from './connect.ts';
import type { FailureReport } from './failure.ts';
import type { World } from './world.ts';

type MeantWorld = World & Pick<CommandWorld, 'profile' | 'baseUrl'>;

/** What is only advice must not keep anybody waiting. */
const PATIENCE_MS = 1_500;

/** A model that nobody has is often one letter away from one that is in the list. */
export async function withModelMeant(report: FailureReport, argv: readonly string[], world: MeantWorld): Promise<FailureReport> {
  const kept = await keptModels(world);
  const models = kept.length > 0 ? kept : await publishedModels(world).catch(() => []);
  const close = models.filter((model) => argv.some((word) => word.length > 2 && isClose(model, word)));
  return close.length === 0
    ? report
    : { ...report, next_step: `Did you mean ${close.slice(0, 3).join(' or ')}? ${report.next_step ?? ''}`.trim() };
}

/** Those whose prices the gateway shows to everybody; a list is kept only where somebody logged in. */
async function publishedModels(world: MeantWorld): Promise<string[]> {
  const client = await connect(world, 'none');
  const { data } = await client.models.prices({ signal: AbortSignal.any([world.signal, AbortSignal.timeout(PATIENCE_MS)]) });
  return [...new Set(data.map(({ id }) => id))];
}
