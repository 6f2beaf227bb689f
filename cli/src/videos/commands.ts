import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { videoCharacters } from './characters.ts';
import { createVideo } from './create.ts';
import { derivedVideos } from './derive.ts';
import { keptVideos } from './kept.ts';

export function videoCommands(videos: Command, perform: Perform): void {
  createVideo(videos, perform);
  keptVideos(videos, perform);
  derivedVideos(videos, perform);
  videoCharacters(videos, perform);
}
