import { tallygate } from '../client.ts';
import { saveBlob } from '../ui/saved.ts';

/** Hands a stored file to the person. */
export async function download(fileId: string, name?: string): Promise<void> {
  const [file, content] = await Promise.all([name ?? tallygate.files.get(fileId), tallygate.files.content(fileId)]);
  saveBlob(typeof file === 'string' ? file : file.filename, await content.blob());
}
