/** `seckill-lab images build`: stand-ins for the official images, made on this machine without a registry. */
import { ExitCode } from '../exit-codes.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';

export interface ImagesBuildOptions {
  /** Also the image of the role processes. */
  readonly roles?: boolean;
}

/** 0 when every image is there; 2 when one could not be made. */
export async function runImagesBuild(options: ImagesBuildOptions, io: CommandIo): Promise<number> {
  const began = performance.now();
  try {
    const { buildImages } = await import('../stack/images/build-images.js');
    const images = await buildImages({
      withRoles: options.roles === true,
      onNote: (text) => {
        io.stderr(`images: ${text}\n`);
      },
    });
    for (const { name, id, isNew } of images) io.stdout(`${isNew ? 'built' : 'there'}  ${name}  ${id}\n`);
    io.stderr(`images: done in ${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
    return ExitCode.green;
  } catch (error) {
    return reportError(error, io);
  }
}
