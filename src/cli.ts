#!/usr/bin/env node
/**
 * The command line: parse → call → exit code. Nothing else. Each verb is loaded when it is called: `doctor` needs no driver, and a module that
 * cannot be loaded ends as 255 like every other bug, not as Node's own 1.
 */
import { Command, CommanderError, Option } from 'commander';

import { processIo } from './commands/command-io.js';
import { reportError } from './commands/report-error.js';
import { ExitCode } from './exit-codes.js';
import { MUTANT_OPTIONS } from './lab/mutants/mutant-options.js';
import { RUN_OPTIONS } from './lab/run-options.js';
import { SWEEP_OPTIONS } from './lab/sweep/sweep-options.js';
import { toolVersions } from './lab/provenance.js';

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

function addSweep(program: Command, finish: (code: number) => void): void {
  const sweep = program.command('sweep').description('break every named step of the protocol in every way: kill, pause, cut, at its first, middle and last hit; run, recover, judge');
  for (const { flag, help } of Object.values(SWEEP_OPTIONS)) sweep.addOption(new Option(flag, help));
  sweep
    .option('--resume <dir>', 'go on with a sweep that was broken off, in the folder that it printed')
    .option('--reduced', 'a sample drawn by the seed that has every role with every action, for CI')
    .option('--report-dir <folder>', 'where sweeps go', 'reports')
    .option('--mutant <name>', 'sweep with a guard removed: the sweep must find it (see `list`)')
    .option('--json', 'print head and rows alone on stdout')
    .action(async (options: Record<string, unknown>) => {
      const { runSweep } = await import('./commands/sweep.js');
      finish(await runSweep(options, process.argv, processIo));
    });
}

function buildProgram(finish: (code: number) => void): Command {
  const program = new Command('seckill-lab');
  program
    .description('A laboratory for flash-sale order systems: real servers, exact faults, independent evidence, verdicts a CI can gate on.')
    .version(toolVersions()['seckill-lab'] ?? 'unknown')
    .exitOverride()
    .showHelpAfterError('(see --help)');

  const withStackOptions = (command: Command): Command =>
    command
      .option('--stack <provider>', 'local (child processes), containers, or auto (containers where they can be had)', 'local')
      .addOption(new Option('--image <server=name>', 'image of redis, postgres, kafka, toxiproxy or roles; repeatable').argParser(collect))
      .option('--images-file <file>', 'the same as a JSON object; seckill-lab.images.json if it is there');
  const run = program.command('run').description('run a scenario: start the stack, storm, break, judge, report').argument('[scenario]', 'see `seckill-lab list`; may be left out where a plan names it');
  for (const [key, row] of Object.entries(RUN_OPTIONS)) {
    const option = new Option(row.flag, row.help);
    if (key === 'fault' || key === 'clockSkew') option.argParser(collect);
    run.addOption(option);
  }
  withStackOptions(run)
    .option('--roles <home>', 'role processes as children of the lab (processes), or in containers of the project\'s own image (containers)', 'processes')
    .option('--report-dir <folder>', 'where run folders go', 'reports')
    .option('--stack-file <file>', 'use the running stack that this file describes (see `up`)')
    .option('--plan <file>', 'YAML or JSON: scenario, seed, options, faults, mutant; the manifest of every run holds its own')
    .option('--mutant <name>', 'remove a guard on purpose and see which judge notices (see `list`)')
    .option('--keep-running', 'leave the servers running after the run and print how to reach and end them')
    .option('--plain', 'progress as plain lines, never the live view')
    .option('--json', 'print the verdict document alone on stdout')
    .action(async (scenario: string | undefined, options: Record<string, unknown>) => {
      const { runRun } = await import('./commands/run.js');
    finish(await runRun(scenario, options, process.argv, processIo));
    });

  addMutants(program, finish);
  addSweep(program, finish);
  program.command('list').description('scenarios, faults, invariants and mutants').option('--json', 'as JSON').action(async (options: { json?: boolean }) => {
    const { runList } = await import('./commands/list.js');
    finish(runList(options, processIo));
  });
  program
    .command('check').description('judge a saved run again, offline').argument('<dir>', 'a run folder').option('--json', 'print the verdict document alone on stdout')
    .option('--corrupt <repeats>', 'also make the facts untrue in every known way, so often each, and see that the judges notice').option('--seed <number>', 'which rows --corrupt picks', '1')
    .action(async (directory: string, options: { json?: boolean; corrupt?: string; seed: string }) => {
      const { runCheck } = await import('./commands/check.js');
      finish(await runCheck(directory, options, processIo));
    });
  program.command('explain').description('the whole story of one unit of a saved run').argument('<dir>', 'a run folder').argument('<id>', 'of a reservation, request, user, order, message or token').option('--as <kind>', 'which of these the id is').option('--json', 'as JSON').action(async (directory: string, id: string, options: { as?: string; json?: boolean }) => {
    const { runExplain } = await import('./commands/explain.js');
    finish(await runExplain(directory, id, options, processIo));
  });
  program
    .command('shrink').description('run a violated run again with less load and fewer faults, down to the least that still fails').argument('<dir>', 'its run folder')
    .option('--out <file>', 'where the plan goes (default: shrunk-plan.yaml in the folder)').option('--lanes <count>', 'runs side by side', '2').option('--minutes <count>', 'stop after so long', '60')
    .action(async (directory: string, options: { out?: string; lanes: string; minutes: string }) => {
      const { runShrink } = await import('./commands/shrink.js');
      finish(await runShrink(directory, options, process.argv, processIo));
    });
  program.command('doctor').description('what is installed, what is missing, and the command that mends it').action(async () => {
    const { runDoctor } = await import('./commands/doctor.js');
    finish(await runDoctor({}, processIo));
  });
  program.command('install').description('fetch what the local stack needs').option('--with-deps', 'also install Debian packages (as root)').action(async (options: { withDeps?: boolean }) => {
    const { runInstall } = await import('./commands/install.js');
    finish(await runInstall(options, processIo));
  });
  withStackOptions(program.command('up').description('start a stack and leave it running')).option('--stack-file <file>', 'where to describe it', 'stack.json').option('--lanes <count>', 'sets of proxies', '1').action(async (options: { stackFile: string; lanes: string }) => {
    const [{ runUp }, { parseStackRequest }] = await Promise.all([import('./commands/up.js'), import('./commands/stack-options.js')]);
    finish(await runUp({ stackFile: options.stackFile, lanes: Number(options.lanes), request: parseStackRequest(options) }, processIo));
  });
  program.command('down').description('end a stack started by `up`').option('--stack-file <file>', 'its description', 'stack.json').action(async (options: { stackFile: string }) => {
    const { runDown } = await import('./commands/down.js');
    finish(await runDown(options, processIo));
  });
  program.command('clean').description('remove from the Docker engine what labs have left').option('--force', 'also of labs that are running').action(async (options: { force?: boolean }) => {
    const { runClean } = await import('./commands/clean.js');
    finish(await runClean(options, processIo));
  });
  program.command('images').description('stand-ins for the official images, without a registry').command('build').description('make them (as root on Debian)').option('--roles', 'also the image of the role processes').action(async (options: { roles?: boolean }) => {
    const { runImagesBuild } = await import('./commands/images.js');
    finish(await runImagesBuild(options, processIo));
  });
  addOperatorCommands(program, finish);
  program
    .command('probe')
    .description('closed-loop saturation probe of a gateway (autocannon); says nothing about latency under load')
    .option('--url <url>', 'a gateway; without it the probe starts a stack of its own')
    .option('--stack-file <file>', 'use this running stack')
    .option('--connections <count>', 'connections', '64')
    .option('--duration <time>', 'how long', '5s')
    .option('--json', 'as JSON')
    .action(async (options: Record<string, unknown>) => {
      const { runProbe } = await import('./commands/probe.js');
    finish(await runProbe(options, processIo));
    });
  program.command('size').description('where more connections, larger batches and more consumers stop paying on this machine; wants it idle').option('--repeats <count>', 'of every measurement', '3').option('--orders <count>', 'per measurement; fewer leave out the largest batches', '24000').option('--json', 'as JSON').action(async (options: { repeats: string; orders: string; json?: boolean }) => {
    const { runSizeCommand } = await import('./commands/size.js');
    finish(await runSizeCommand(options, processIo));
  });
  return program;
}

/** What an operator does to a running system. */
function addOperatorCommands(program: Command, finish: (code: number) => void): void {
  const dlq = program.command('dlq').description('dead letters of a running system');
  const onSystem = (command: Command): Command => command.option('--stack-file <file>', 'the running stack', 'stack.json').requiredOption('--namespace <id>', 'of the system, as in the manifest of its run');
  onSystem(dlq.command('list').description('what could not be worked off, and which reservations wait for a human')).option('--status <status>', 'open, replayed, closed or all', 'open').option('--json', 'as JSON').action(async (options: Record<string, never>) => {
    const { runDlqList } = await import('./commands/dlq.js');
    finish(await runDlqList(options, processIo));
  });
  onSystem(dlq.command('replay').description('send originals again, once each')).addOption(new Option('--id <id>', 'a dead letter; may be given again').argParser(collect)).option('--all', 'every open one').action(async (options: Record<string, never>) => {
    const { runDlqReplay } = await import('./commands/dlq.js');
    finish(await runDlqReplay(options, processIo));
  });
  const manual = program.command('manual').description('reservations of a running system that wait for a human');
  onSystem(manual.command('list').description('which, since when and why')).option('--json', 'as JSON').action(async (options: Record<string, never>) => {
    const { runManualList } = await import('./commands/manual.js');
    finish(await runManualList(options, processIo));
  });
  onSystem(manual.command('release').description('end them without an order and give their units back, once each')).addOption(new Option('--id <id>', 'a reservation; may be given again').argParser(collect)).option('--all', 'every one that waits').action(async (options: Record<string, never>) => {
    const { runManualRelease } = await import('./commands/manual.js');
    finish(await runManualRelease(options, processIo));
  });
  onSystem(program.command('reconcile').description('compare Redis, the orders topic and PostgreSQL of a running system id by id')).option('--repair', 'mend what differs').option('--grace-ms <ms>', 'how long an id may be on its way').option('--json', 'as JSON').action(async (options: Record<string, never>) => {
    const { runReconcile } = await import('./commands/reconcile.js');
    finish(await runReconcile(options, processIo));
  });
}

/** `mutants`, with its flags from their table. */
function addMutants(program: Command, finish: (code: number) => void): void {
  const mutants = program.command('mutants').description('run every wrong design and see that its judge notices: the kill matrix');
  for (const { flag, help, many } of Object.values(MUTANT_OPTIONS)) {
    const option = new Option(flag, help);
    if (many) option.argParser(collect);
    mutants.addOption(option);
  }
  mutants
    .option('--resume <folder>', 'go on with a matrix that was broken off')
    .option('--report-dir <folder>', 'where the matrix goes', 'reports')
    .option('--keep-all', 'keep the folder of every run')
    .option('--json', 'print the matrix document alone on stdout')
    .action(async (options: Record<string, unknown>) => {
      const { runMutants } = await import('./commands/mutants.js');
      finish(await runMutants(options, process.argv, processIo));
    });
}

async function main(): Promise<number> {
  let code: number = ExitCode.usage;
  const program = buildProgram((value) => {
    code = value;
  });
  try {
    await program.parseAsync(process.argv);
    return code;
  } catch (cause) {
    // --help and --version end with code 0; every other commander error is bad usage, never 1.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? ExitCode.green : ExitCode.usage;
    return reportError(cause, processIo);
  }
}

process.on('uncaughtException', (cause) => {
  process.exit(reportError(cause, processIo));
});
process.on('unhandledRejection', (cause) => {
  process.exit(reportError(cause, processIo));
});

const exitCode = await main();
// Nothing may keep a finished lab alive, and nothing written may be lost: exit only after stdout took everything.
process.stdout.write('', () => {
  process.exit(exitCode);
});
