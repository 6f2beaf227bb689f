export { ExhaustedRuns } from './exhausted-runs.ts';
export { runRoutes } from './routes.ts';
export { RunDirectory } from './run-directory.ts';
export { RunQueries } from './run-queries.ts';
export { createRunStore, RUNS_CHANNEL } from './run-store.ts';
export type { RunStep } from './step.ts';
