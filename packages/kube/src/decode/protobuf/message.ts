import { delimited, type ProtobufReader, varint } from './reader.ts'

/** Reads the value that the reader is at. Undefined: JSON would leave it out. */
type ReadValue = (reader: ProtobufReader) => unknown

interface Field {
  readonly tag: number
  readonly name: string
  readonly read: ReadValue
}

/** The fields of a message that are wanted, by their tags. */
export type Message = ReadonlyMap<number, Field>

export function message(...fields: readonly Field[]): Message {
  return new Map(fields.map((field) => [field.tag, field]))
}

/** Reads a message from a description of it. For what is read now and then: a program of its own is faster. */
export function readMessage(reader: ProtobufReader, end: number, message: Message): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  while (reader.next(end)) {
    const field = message.get(reader.tag)
    const value = field?.read(reader)
    if (field && value !== undefined) object[field.name] = value
  }
  return object
}

/** A text, left out if it is empty. */
export const text = (field: number, name: string): Field => own(field, name, (reader) => reader.text() || undefined)

/** A number that may be given as zero. */
export const givenInteger = (field: number, name: string): Field => ({
  ...own(field, name, (reader) => reader.integer()),
  tag: varint(field),
})

/** A value that is read in a way of its own. */
export const own = (field: number, name: string, read: ReadValue): Field => ({
  tag: delimited(field),
  name,
  read,
})
