import type { Doc } from "./_generated/dataModel";

type Employee = Doc<"employees">;
type Phones = NonNullable<Employee["phones"]>;
export type NewEmployee = Omit<Employee, "phone" | "phones" | "remote"> & { phones: Phones; remote: boolean };

export function isOld(employee: Employee): boolean {
  return employee.phones === undefined;
}

/** The employee in the new shape, whatever shape it is stored in. */
export function inNewShape(employee: Employee): NewEmployee {
  const { phone, phones, ...rest } = employee;
  return {
    ...rest,
    phones: phones ?? (phone ? [{ label: "mobile", number: phone }] : []),
    remote: rest.remote ?? false,
  };
}
