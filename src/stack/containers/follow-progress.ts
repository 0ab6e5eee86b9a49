/** Follows what the engine tells of a pull, a build or an import. A failure is one of its lines, not an error of the stream, which ends well all the same. */
import type { Docker } from './engine.js';

/** One line. */
export interface EngineProgress {
  readonly id?: string;
  readonly status?: string;
  /** Text of a build. */
  readonly stream?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

/** Resolves at the end. Rejects with an Error in the engine's words. */
export function followProgress(docker: Docker, stream: NodeJS.ReadableStream, onProgress: (line: EngineProgress) => void): Promise<void> {
  let failure: string | null = null;
  return new Promise((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null) => {
        if (error !== null) reject(error);
        else if (failure !== null) reject(new Error(failure));
        else resolve();
      },
      (line: EngineProgress) => {
        failure ??= line.error ?? null;
        onProgress(line);
      },
    );
  });
}
