/** The names in `anthropic-beta`. */
export const betasIn = (header = ''): string[] =>
  header
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
