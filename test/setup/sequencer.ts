import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Shuffles files within their project, because only consecutive files of one project share modules. */
export class ShuffledProjects extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification) => hash(`${this.ctx.config.sequence.seed}:${file.moduleId}`);
    return files.toSorted(
      (one, other) => compare(one.project.name, other.project.name) || rank(one) - rank(other),
    );
  }
}

const compare = (one: string, other: string) => Number(one > other) - Number(one < other);

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
