import type { AgentDocument, Tallygate } from '@tallygate/sdk';
import { Argument, type Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { AgentDocumentFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';
import { deliver } from '../receipts/get.ts';

interface Options {
  readonly output?: string;
}

type Read = (client: Tallygate, signal: AbortSignal) => PromiseLike<object | Response>;

/** Every document by the name that it is asked for with. */
const DOCUMENTS: Readonly<Record<string, Read>> = {
  agent: ({ discovery }, signal) => discovery.agent({ signal }),
  'agent-card': ({ discovery }, signal) => discovery.agentCard({ signal }),
  agents: ({ discovery }, signal) => discovery.agentsGuide({ signal }),
  llms: ({ discovery }, signal) => discovery.llms({ signal }),
  'llms-full': ({ discovery }, signal) => discovery.llmsFull({ signal }),
  openapi: ({ discovery }, signal) => discovery.openApi({ signal }),
  'openapi-yaml': ({ discovery }, signal) => discovery.openApiYaml({ signal }),
  resource: ({ discovery }, signal) => discovery.resourceMetadata('api', { signal }),
  'mcp-resource': ({ discovery }, signal) => discovery.resourceMetadata('mcp', { signal }),
  security: ({ discovery }, signal) => discovery.securityText({ signal }),
};

const LINES: readonly Column<AgentDocument>[] = [
  { title: 'gateway', of: ({ url }) => url },
  { title: 'version', of: ({ version }) => version },
  { title: 'openai', of: (agent) => interfaceOf(agent, 'openai') },
  { title: 'mcp', of: (agent) => interfaceOf(agent, 'mcp') },
  { title: 'models', of: ({ models }) => models.length },
  { title: 'openapi', of: ({ documents }) => documents.openapi },
  { title: 'for agents', of: ({ documents }) => documents.agents },
];

const interfaceOf = ({ interfaces }: AgentDocument, protocol: string) => interfaces.find((one) => one.protocol === protocol)?.url;

export const showDiscovery = (discovery: Command, perform: Perform): Command =>
  withJson(AgentDocumentFields, discovery.command('show').description('Where to connect, in a few lines; needs no login')).action(
    perform(show),
  );

export const getDocument = (discovery: Command, perform: Perform): Command =>
  discovery
    .command('get')
    .description('Fetch one document of the gateway; needs no login')
    .addArgument(new Argument('<document>').choices(Object.keys(DOCUMENTS)))
    .option('-o, --output <file>', 'write it to a file')
    .action(perform(get));

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect('none');
  printRecord(world, await client.discovery.agent({ signal: world.signal }), LINES);
}

async function get(world: CommandWorld, { args: [name = ''], options: { output } }: Typed<Options>): Promise<void> {
  const client = await world.connect('none');
  const document = await DOCUMENTS[name]?.(client, world.signal);
  if (document instanceof Response) {
    const text = await document.text();
    if (output === undefined || output === '-') return world.out.write(text);
    await world.writeFile(output, text);
    world.err.write(`Wrote ${output}.\n`);
  } else if (document) await deliver(world, document, output);
}
