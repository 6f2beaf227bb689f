import type { Log } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import {
  deadNames,
  declareStanding,
  type Filled,
  faultOfProvider,
  fillFrom,
  ListFault,
  LiveCatalog,
  type PriceLog,
  type ReadList,
  shippedList,
} from '../money/catalog/index.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { Foundation } from './foundation.ts';
import { readModelsFile } from './models-file.ts';

/**
 * The catalogue in the database, updated from the shipped list and the operator's file, and in memory.
 * @throws ConfigError where the file is not what it has to be
 */
export async function openCatalog({ config, pool, log, closing }: Foundation, prices: PriceLog): Promise<LiveCatalog> {
  const file = readModelsFile(config.modelsFile);
  await unlessStopped(log, async () => {
    await declareStanding(pool, prices);
    await fillFrom({ pool, log: prices }, { source: 'shipped', ...shippedList() });
  });
  await fillFromFile({ config, pool, log, prices }, file);
  const catalog = await LiveCatalog.open({ pool, log, providers: namesOf(config.providers) });
  closing.add('catalogue', async () => catalog.close());
  sayDeadNames(catalog, { config, log });
  return catalog;
}

/** While the log of receipts is stopped, no new price is charged: requests go on at those that are. */
async function unlessStopped(log: Log, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'store_unavailable') throw error;
    log.error({ because: error.message }, 'the shipped list of prices was not read');
  }
}

/** Reads the operator's file again, where there is one. What is wrong with it is logged, and the catalogue stays as it was. */
export async function rereadModels(deps: FileDeps, catalog: LiveCatalog): Promise<void> {
  const { config, log } = deps;
  if (config.modelsFile === undefined) {
    log.info('SIGHUP: no MODELS_FILE is set, so there is nothing to read again');
    return;
  }
  try {
    const { changed } = await fillFromFile(deps, readModelsFile(config.modelsFile));
    await catalog.refresh();
    sayDeadNames(catalog, deps);
    log.info({ path: config.modelsFile, changed }, 'MODELS_FILE was read again');
  } catch (error) {
    log.error({ err: error }, 'MODELS_FILE could not be read again: the catalogue stays as it was');
  }
}

/** What the file says may be meant for a provider that comes later: it is taken, and named. */
function sayDeadNames(catalog: LiveCatalog, { config: { modelsFile: path }, log }: Pick<FileDeps, 'config' | 'log'>): void {
  for (const model of catalog.all.filter(({ sources }) => sources.includes('file'))) {
    const ofProvider = faultOfProvider(model.provider, catalog);
    for (const { path: at, fault } of [...deadNames(model.id, model, catalog, () => true), ...(ofProvider ? [ofProvider] : [])])
      log.warn({ path, model: model.id, at: at.join('.'), because: fault }, 'MODELS_FILE says something of a model that nothing comes of');
  }
}

const namesOf = (providers: Config['providers']): ReadonlySet<string> => new Set(providers.map(({ name }) => name));

interface FileDeps extends Pick<Foundation, 'config' | 'pool' | 'log'> {
  readonly prices: PriceLog;
}

async function fillFromFile({ config: { modelsFile: path }, pool, log, prices }: FileDeps, list: ReadList): Promise<Filled> {
  try {
    const filled = await fillFrom({ pool, log: prices }, list);
    if (filled.overruled.length > 0)
      log.warn(
        { path, models: filled.overruled },
        'an administrator has set the prices of these models: those of MODELS_FILE are not charged',
      );
    return filled;
  } catch (error) {
    throw error instanceof ListFault ? new ConfigError([`MODELS_FILE ${path}: ${error.message}`]) : error;
  }
}
