import { readdirSync, readFileSync } from 'node:fs';
import * as contractExports from '@tallygate/contract';
import { contract } from '@tallygate/contract';
import { type Route, type Router, routesOf } from '../../contract/src/openapi/route.ts';
import { readSdkMethod, type SdkMethod } from '../../contract/src/openapi/sdk-method.ts';
import { TAGS } from '../../contract/src/openapi.ts';
import { callText } from './call-text.ts';
import { type Names, namedSchemas } from './schema-names.ts';

/** The operations of one resource, `conversations.items` for instance. */
interface ResourceText {
  readonly path: string;
  readonly className: string;
  readonly about: string;
  readonly methods: readonly { readonly route: Route; readonly method: SdkMethod }[];
}

const HAND_WRITTEN = new URL('../src/', import.meta.url);

/** The text of `src/generated/resources.ts`: a class for each resource, with the operations whose route names their method. */
export function resourcesModule(router: Router = contract, schemas: object = contractExports): string {
  const names = namedSchemas(schemas);
  const queries: string[] = [];
  const classes = resourcesOf(router).map((resource) => classText(resource, names, queries));
  const text = [...queries, ...classes].join('\n');
  const models = [...names.used].sort();
  return [
    '// Generated from contract/src by sdk/scripts/generate-resources.ts. Do not edit.',
    ...(models.length > 0 ? ['import type {', ...models.map((name) => `  ${name},`), "} from './models.ts';"] : []),
    "import type { Call } from '../transport/call.ts';",
    "import type { CallOptions } from '../transport/call-options.ts';",
    "import type { PagedCall, PageQuery } from '../transport/paged-call.ts';",
    "import { pathStep } from '../transport/path.ts';",
    "import { Resource } from '../transport/resource.ts';",
    '',
    text,
  ].join('\n');
}

/**
 * The text of `src/generated/client.ts`: what a client has. Resources that do more than to pass their input on are classes in `src`, whose comment
 * begins with their name: `tallygate.videos`.
 */
export function clientModule(router: Router = contract): string {
  const generated = resourcesOf(router).filter(({ path }) => !path.includes('.'));
  const written = handWritten();
  const names = [...new Set([...generated.map(({ path }) => path), ...written.keys()])].sort();
  const classOf = (name: string) => written.get(name)?.className ?? pascal(name);
  const files = Map.groupBy(names, (name) => written.get(name)?.file ?? './resources.ts');
  const imports = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '// Generated from contract/src by sdk/scripts/generate-resources.ts. Do not edit.',
    ...imports.map(([file, inFile]) => `import { ${inFile.map(classOf).sort().join(', ')} } from '${file}';`),
    "import type { Transport } from '../transport/transport.ts';",
    '',
    '/** Everything that a gateway can be asked, by resource. */',
    'export class Resources {',
    ...names.map((name) => `  readonly ${name}: ${classOf(name)};`),
    '',
    '  constructor(transport: Transport) {',
    ...names.map((name) => `    this.${name} = new ${classOf(name)}(transport);`),
    '  }',
    '}',
    '',
  ].join('\n');
}

function resourcesOf(router: Router): ResourceText[] {
  const methods = routesOf(router).flatMap((route) => {
    const method = readSdkMethod(route);
    return method ? [{ route, method }] : [];
  });
  const byPath = Map.groupBy(methods, ({ method }) => method.path);
  return [...byPath]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, inPath]) => ({ path, className: classNameOf(path), about: aboutOf(path, inPath[0]?.route), methods: inPath }));
}

const pascal = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;
const singular = (name: string): string => name.replace(/(?<=ch)es$|s$/, '');

/** `emails.templates` is `EmailTemplates`. */
function classNameOf(path: string): string {
  const steps = path.split('.').map(pascal);
  return steps.map((step, index) => (index < steps.length - 1 ? singular(step) : step)).join('');
}

const aboutOf = (path: string, first: Route | undefined): string => `\`tallygate.${path}\`: ${TAGS[first?.metadata.tag ?? '']}`;

function classText({ path, className, about, methods }: ResourceText, names: Names, queries: string[]): string {
  const texts = methods.map(({ route, method }) => {
    const { query, text } = callText(route, method, names, (name) => queryName(className, name));
    if (query) queries.push(query);
    return text;
  });
  const twice = methods.find(({ method: { name } }, index) => methods.findIndex(({ method }) => method.name === name) !== index);
  if (twice) throw new Error(`Two operations are ${path}.${twice.method.name} in the SDK.`);
  return `/** ${about} */\nexport class ${className} extends Resource {\n${texts.join('\n')}}\n`;
}

/** What `list` of `Accounts` is asked with is an `AccountQuery`; what `recipients` of `Emails` is asked with, an `EmailRecipientQuery`. */
const queryName = (className: string, method: string): string =>
  `${singular(className)}${method === 'list' ? '' : singular(pascal(method))}Query`;

interface HandWritten {
  readonly className: string;
  readonly file: string;
}

function handWritten(): ReadonlyMap<string, HandWritten> {
  const found = new Map<string, HandWritten>();
  for (const name of readdirSync(HAND_WRITTEN).filter((file) => /^[a-z-]+\.ts$/.test(file)))
    for (const [, resource = '', className = ''] of readFileSync(new URL(name, HAND_WRITTEN), 'utf8').matchAll(RESOURCE_CLASS))
      found.set(resource, { className, file: `../${name}` });
  return found;
}

/** Its comment, of which the name is the beginning, and the class itself. */
const RESOURCE_CLASS = /^(?:\/\*\*| \*) `tallygate\.(\w+)`[\s\S]*?^export class (\w+)/gm;
