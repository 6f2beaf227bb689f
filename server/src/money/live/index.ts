export { LiveAccounts } from './live-accounts.ts';
export { readFigures } from './read-figures.ts';
