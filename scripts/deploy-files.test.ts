import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { VARIABLE_GROUPS } from '../server/src/app/variables.ts';

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const SETTINGS = VARIABLE_GROUPS.flatMap(({ variables }) => Object.keys(variables));
/** Of Node, glibc, PostgreSQL's image and Caddy; variables of compose.yaml and Caddyfile. */
const OTHERS =
  /^(NODE_(ENV|OPTIONS)|MALLOC_\w+|POSTGRES_\w+|DOMAIN|UPSTREAMS|OPENAI_API_KEY|MAINPID|PATH|ALL|AF_\w+|HUP|CMD|INFO|PLANS_FILE|SIGTERM)$/;
const CHART = join(root, 'deploy/helm/tallygate');
const hasHelm = spawnSync('helm', ['version']).status === 0;

test('every variable that a file of deploy/ sets is a setting of the gateway', () => {
  const files = [
    'Dockerfile',
    'compose.yaml',
    'Caddyfile',
    'nginx.conf',
    'helm/tallygate/values.yaml',
    ...globSync('systemd/*', { cwd: join(root, 'deploy') }),
  ];
  const named = files.flatMap((file) =>
    [...read(`deploy/${file}`).matchAll(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b/g)].map(([name]) => name),
  );
  expect(named).toContain('OPERATIONS_PORT');
  expect([...new Set(named)].filter((name) => !SETTINGS.includes(name) && !OTHERS.test(name))).toEqual([]);
});

test('the image and the units start programs that the package has', () => {
  const { bin } = JSON.parse(read('packages/tallygate-server/package.json'));
  expect(Object.keys(bin)).toEqual(['tallygate-server']);
  const inImage = [...read('deploy/Dockerfile').matchAll(/\/opt\/tallygate\/([\w./-]+)/g)].map(([, path]) => `./${path}`);
  expect(new Set(inImage)).toEqual(new Set(Object.values(bin)));
  const program = read('scripts/tallygate-server.ts');
  for (const command of ['serve', 'health', 'migrate', 'secrets']) expect(program).toContain(`command === '${command}'`);
});

test('what the guide names in deploy/ is there', () => {
  const named = [...read('docs/guides/deploy.md').matchAll(/\bdeploy\/[\w./@-]*\w/g)].map(([path]) => path);
  // Made by the reader, with secrets.
  expect(named.filter((path) => path !== 'deploy/tallygate.env' && !existsSync(join(root, path)))).toEqual([]);
});

test.skipIf(!hasHelm)('helm lints the chart and renders it with every option', () => {
  const flags = ['--set', 'settings.PUBLIC_URL=https://ai.example.com', '--set', 'existingSecret=tallygate'];
  execFileSync('helm', ['lint', '--strict', CHART, ...flags], { stdio: 'pipe' });
  const all = ['--set', 'ingress.enabled=true,ingress.host=ai.example.com,ingress.tlsSecret=tls,serviceMonitor.enabled=true'];
  const rendered = execFileSync('helm', ['template', 'r', CHART, '--kube-version', '1.30', ...flags, ...all], { encoding: 'utf8' });
  const kinds = [
    'StatefulSet',
    'Job',
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'Ingress',
    'ServiceMonitor',
    'PersistentVolumeClaim',
  ];
  for (const kind of kinds) expect(rendered).toContain(`kind: ${kind}`);
});
