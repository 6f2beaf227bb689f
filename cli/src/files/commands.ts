import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { fileContent } from './content.ts';
import { deleteFile } from './delete.ts';
import { getFile } from './get.ts';
import { listFiles } from './list.ts';
import { uploadFile } from './upload.ts';

export function fileCommands(files: Command, perform: Perform): void {
  listFiles(files, perform);
  uploadFile(files, perform);
  getFile(files, perform);
  fileContent(files, perform);
  deleteFile(files, perform);
}
