import type { Doc } from "./_generated/dataModel";

type Employee = Doc<"employees">;
export type OldEmployee = Extract<Employee, { phone: string }>;
export type NewEmployee = Extract<Employee, { remote: boolean }>;

export function isOld(employee: Employee): employee is OldEmployee {
  return "phone" in employee;
}

/** The employee in the new shape, whatever shape it is stored in. */
export function inNewShape(employee: Employee): NewEmployee {
  if (!isOld(employee)) {
    return employee;
  }
  const { phone, ...rest } = employee;
  return {
    ...rest,
    phones: phone === "" ? [] : [{ label: "mobile", number: phone }],
    remote: false,
  };
}
