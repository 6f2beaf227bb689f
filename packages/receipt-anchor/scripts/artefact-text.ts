import { readdirSync, readFileSync } from 'node:fs';
import solc from 'solc';
import * as z from 'zod';

const CONTRACTS = new URL('../contracts/', import.meta.url);

/** Understood by every chain that has had the upgrade of April 2023. */
const EVM_VERSION = 'shanghai';
const SETTINGS = { optimizer: { enabled: true, runs: 1_000 }, evmVersion: EVM_VERSION, metadata: { bytecodeHash: 'none' } };

const Complaints = z.object({ errors: z.array(z.object({ formattedMessage: z.string() })).default([]) });
const Output = z.object({
  contracts: z.object({
    'ReceiptAnchor.sol': z.object({
      ReceiptAnchor: z.object({
        abi: z.array(z.unknown()),
        evm: z.object({ bytecode: z.object({ object: z.string().regex(/^[0-9a-f]+$/) }) }),
      }),
    }),
  }),
});

/** The module that the contract compiles to. @throws with what the compiler has to say, warnings too */
export function artefactText(): string {
  const names = readdirSync(CONTRACTS).sort();
  const sources = Object.fromEntries(names.map((name) => [name, { content: readFileSync(new URL(name, CONTRACTS), 'utf8') }]));
  const outputSelection = { '*': { '*': ['abi', 'evm.bytecode.object'] } };
  const input = JSON.stringify({ language: 'Solidity', sources, settings: { ...SETTINGS, outputSelection } });
  const output: unknown = JSON.parse(solc.compile(input));
  const { errors } = Complaints.parse(output);
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const { contracts } = Output.parse(output);
  const { abi, evm } = contracts['ReceiptAnchor.sol'].ReceiptAnchor;
  const artefact = { compiler: solc.version(), settings: SETTINGS, abi, bytecode: `0x${evm.bytecode.object}` };
  const origin = '// Made by `pnpm --filter @tallygate/receipt-anchor compile` from contracts/; not to be edited.';
  return `${origin}\nexport const receiptAnchor = ${JSON.stringify(artefact, null, 2)} as const;\n`;
}
