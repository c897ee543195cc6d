import { TemplateError } from './errors.ts'
import { Templates } from './evaluate/template-set.ts'

/** A parsed template. It may be rendered any number of times. */
export class Template {
  /** The name that errors show. */
  readonly name: string
  /** Not part of the API. */
  readonly set: Templates

  constructor(name: string, text: string) {
    this.name = name
    try {
      this.set = Templates.parse(name, text)
    } catch (error) {
      if (error instanceof RangeError) {
        throw new TemplateError('limit', 'The template is nested too deep.', { cause: error })
      }
      throw error
    }
  }
}
