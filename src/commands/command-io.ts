/** Where a command writes. stdout carries results only; everything else goes to stderr. */
export interface CommandIo {
  stdout(text: string): void;
  stderr(text: string): void;
}

export const processIo: CommandIo = {
  stdout: (text) => {
    process.stdout.write(text);
  },
  stderr: (text) => {
    process.stderr.write(text);
  },
};
