import type { Command } from 'commander';

/** Words that command lines of other programs have for the same thing; the first that a noun has is the one that was meant. */
const DEEDS: readonly (readonly string[])[] = [
  ['get', 'show', 'view', 'describe', 'inspect', 'info', 'details', 'status', 'read'],
  ['list', 'ls', 'all', 'index', 'show'],
  ['create', 'add', 'new', 'make', 'upload', 'send', 'set', 'put', 'start', 'post'],
  ['delete', 'rm', 'remove', 'del', 'destroy', 'revoke', 'cancel', 'close', 'clear', 'disable', 'stop', 'kill', 'erase', 'unset'],
  ['update', 'edit', 'modify', 'change', 'set', 'patch', 'rename'],
  ['download', 'content', 'output', 'export', 'fetch', 'cat', 'get'],
  ['verify', 'check', 'validate', 'audit'],
  ['watch', 'wait', 'follow', 'tail'],
];

/** The same for the first words of the line. */
const NOUNS: readonly (readonly string[])[] = [
  ['login', 'auth', 'signin', 'sign-in', 'authenticate'],
  ['logout', 'signout', 'sign-out'],
  ['whoami', 'me', 'user', 'status'],
  ['profiles', 'contexts', 'context', 'use'],
  ['users', 'register', 'signup', 'sign-up'],
  ['keys', 'apikeys', 'api-keys', 'tokens', 'secrets'],
  ['budgets', 'limits', 'caps'],
  ['plans', 'billing', 'invoices', 'balance', 'topup', 'top-up', 'subscription', 'quota', 'credits'],
  ['models', 'prices', 'pricing', 'catalog', 'catalogue'],
  ['usage', 'cost', 'costs', 'spend', 'spending', 'stats'],
  ['listen', 'tail', 'watch', 'logs', 'requests'],
  ['receipts', 'verify', 'proof', 'proofs'],
  ['files', 'upload', 'uploads'],
  ['chat', 'ask', 'complete', 'completions', 'prompt', 'generate'],
  ['embed', 'embeddings', 'vector'],
  ['moderate', 'moderations'],
  ['image', 'images', 'draw', 'paint'],
  ['speak', 'speech', 'say', 'tts'],
  ['transcribe', 'transcriptions', 'stt', 'dictate', 'transcript'],
  ['deployments', 'providers', 'health'],
  ['doctor', 'ping', 'diagnose', 'check'],
  ['api', 'curl', 'http', 'call'],
];

const OPTIONS: readonly (readonly string[])[] = [
  ['--from', '--since', '--after', '--start'],
  ['--to', '--until', '--before', '--end'],
  ['--output', '--out', '--file', '--save', '--dest'],
  ['--yes', '--force', '--confirm', '--no-prompt'],
  ['--max-tokens', '--tokens', '--max-output-tokens', '--max_tokens'],
  ['--base-url', '--url', '--host', '--server', '--address'],
  ['--limit', '--count', '--max', '--top', '--number'],
  ['--cap', '--budget', '--monthly-cap', '--max-budget', '--amount'],
  ['--expires', '--ttl', '--expiry', '--expires-in', '--expires-at'],
  ['--system', '--instructions', '--system-prompt'],
  ['--test', '--sandbox', '--test-mode', '--testmode'],
  ['--json', '--format', '--output-format', '--fields'],
  ['--scopes', '--scope', '--permissions'],
  ['--model', '--engine', '--models'],
  ['--by', '--group', '--group-by'],
];

/** What no other word helps with: what the person wants is done in another way. */
const ANSWERS: readonly (readonly [line: RegExp, answer: string])[] = [
  [
    /^profiles (use|switch|select|set|add|create|default)$/,
    'A profile is chosen for a line with --profile NAME, for a shell with TALLYGATE_PROFILE; `tallygate login --profile NAME` makes one.',
  ],
  [
    /^(config|configure|settings|init|setup)$/,
    '`tallygate login` sets it up; all else are options and variables, in `tallygate --help`. `tallygate doctor` shows what is in use.',
  ],
  [/^chat --(stream|no-stream)$/, 'The answer of `tallygate chat` comes as it is made: leave the option out.'],
  [/^models (get|show|view|describe|info|inspect)$/, 'Run `tallygate models MODEL`.'],
  [/^(version|about)$/, 'Run `tallygate --version`.'],
];

/** What takes the place of commander's own guess, which knows only how words are spelt. */
export interface Guess {
  readonly meant?: string;
  readonly nextStep?: string;
}

/**
 * @param place the commands that were found, from the program on
 * @param word the one after them that is none of theirs
 */
export function guessOf(place: readonly [Command, ...Command[]], word: string): Guess {
  const line = [...place.slice(1).map((command) => command.name()), word].join(' ');
  const nextStep = ANSWERS.find(([pattern]) => pattern.test(line))?.[1];
  if (nextStep !== undefined) return { nextStep };
  const command = place.at(-1) ?? place[0];
  if (word.startsWith('--')) {
    const options = place.flatMap((each) => each.options.map(({ long }) => long ?? ''));
    return among(options, OPTIONS, word);
  }
  const names = command.commands.map((each) => each.name());
  return among(names, place.length === 1 ? NOUNS : DEEDS, word);
}

/** The first group of the word that leads to something leads far enough. */
function among(names: readonly string[], groups: readonly (readonly string[])[], word: string): Guess {
  for (const group of groups) {
    if (!group.includes(word)) continue;
    const meant = group.find((each) => each !== word && names.includes(each));
    if (meant !== undefined) return { meant };
  }
  return {};
}
