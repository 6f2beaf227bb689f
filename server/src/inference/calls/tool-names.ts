import { hash } from 'node:crypto';

/** What OpenAI takes at most; names of tools from MCP servers are longer. */
const LONGEST_NAME = 64;
const HASH_CHARACTERS = 10;
/** Google takes points and colons as well. */
const IN_CHATS = /^[A-Za-z0-9_-]{1,64}$/;

/** Names of tools in a chat, and back. */
export interface ToolNames {
  chatName(name: string): string;
  originalName(name: string): string;
}

/** A name that a chat does not take is another one there, and is the caller's own again in the answer. */
export function toolNames(names: readonly string[]): ToolNames {
  const originals = new Map(names.flatMap((name) => (IN_CHATS.test(name) ? [] : [[shortName(name), name] as const])));
  return {
    chatName: (name) => (IN_CHATS.test(name) ? name : shortName(name)),
    originalName: (name) => originals.get(name) ?? name,
  };
}

const shortName = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST_NAME - HASH_CHARACTERS - 1);
  return `${plain}_${hash('sha256', name, 'hex').slice(0, HASH_CHARACTERS)}`;
};
