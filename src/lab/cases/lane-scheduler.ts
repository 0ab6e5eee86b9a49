/**
 * Runs a list of work over the lanes of a stack: in order, one at a time per lane, and alone what says it needs the whole stack. Knows nothing of what the work is.
 */
export interface LaneScheduleOptions<Work, Result> {
  readonly lanes: number;
  /** When it is raised nothing more is started; what runs ends by itself. */
  readonly signal: AbortSignal;
  /** Such work waits until every lane is idle, and runs after all the rest. */
  needsWholeStack?(work: Work): boolean;
  /** A rejection is a bug: nothing more is started, and it is thrown on when all lanes are idle. */
  run(work: Work, lane: number): Promise<Result>;
  /** In the order of ending. */
  onResult?(work: Work, result: Result): void;
}

export interface LaneScheduleOutcome<Work, Result> {
  /** In the order of ending. */
  readonly results: readonly { readonly work: Work; readonly result: Result }[];
  /** Not begun, since the signal was raised. */
  readonly left: readonly Work[];
}

export async function runOnLanes<Work, Result>(list: readonly Work[], options: LaneScheduleOptions<Work, Result>): Promise<LaneScheduleOutcome<Work, Result>> {
  const isExclusive = (work: Work): boolean => options.needsWholeStack?.(work) === true;
  const results: { work: Work; result: Result }[] = [];
  const failures: unknown[] = [];

  const drain = async (queue: Work[], lane: number): Promise<void> => {
    for (let work = next(queue); work !== undefined; work = next(queue)) {
      try {
        const result = await options.run(work, lane);
        results.push({ work, result });
        options.onResult?.(work, result);
      } catch (cause) {
        failures.push(cause);
      }
    }
  };
  const next = (queue: Work[]): Work | undefined => (options.signal.aborted || failures.length > 0 ? undefined : queue.shift());

  const shared = list.filter((work) => !isExclusive(work));
  const exclusive = list.filter(isExclusive);
  await Promise.all(Array.from({ length: options.lanes }, (_, lane) => drain(shared, lane)));
  await drain(exclusive, 0);
  if (failures.length > 0) throw failures[0];
  return { results, left: [...shared, ...exclusive] };
}
