import type { FileObject } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

/** Unix seconds as people read them. */
export const timeText = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();

const LINES: readonly Column<FileObject>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Name', of: ({ filename }) => filename },
  { title: 'Bytes', of: ({ bytes }) => bytes },
  { title: 'Purpose', of: ({ purpose }) => purpose },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Created', of: ({ created_at }) => timeText(created_at) },
  { title: 'Expires', of: ({ expires_at }) => (expires_at === undefined ? 'never' : timeText(expires_at)) },
];

export const showFile = (world: CommandWorld, file: FileObject): void => printRecord(world, file, LINES);
