/* A consumer of arrays by the C interface of DLPack: no call of Python for an array, and the layout is that of the
 * protocol's own header. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlpack/dlpack.h>

/* The table of a type; null with an exception. */
static const DLPackExchangeAPI *table_of(PyObject *type) {
    PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    if (capsule == NULL) {
        return NULL;
    }
    const DLPackExchangeAPI *table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_DECREF(capsule);
    if (table != NULL && table->header.version.major != DLPACK_MAJOR_VERSION) {
        PyErr_SetString(PyExc_BufferError, "another major version");
        return NULL;
    }
    return table;
}

static const DLPackExchangeAPI *table_for(PyObject *array) {
    return table_of((PyObject *)Py_TYPE(array));
}

static PyObject *version(PyObject *module, PyObject *type) {
    (void)module;
    const DLPackExchangeAPI *table = table_of(type);
    if (table == NULL) {
        return NULL;
    }
    return Py_BuildValue("II", table->header.version.major, table->header.version.minor);
}

static PyObject *numbers(const int64_t *values, int32_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (int32_t i = 0; tuple != NULL && i < count; i++) {
        PyTuple_SetItem(tuple, i, PyLong_FromLongLong(values[i]));
    }
    return tuple;
}

static PyObject *described(const DLTensor *array) {
    PyObject *shape = numbers(array->shape, array->ndim);
    PyObject *strides = shape == NULL ? NULL : numbers(array->strides, array->ndim);
    if (strides == NULL) {
        Py_XDECREF(shape);
        return NULL;
    }
    return Py_BuildValue("K(ii)(iii)NN", (unsigned long long)(size_t)array->data + array->byte_offset,
                         (int)array->device.device_type, (int)array->device.device_id, (int)array->dtype.code,
                         (int)array->dtype.bits, (int)array->dtype.lanes, shape, strides);
}

/* What is lent of an array: address, device, dtype, shape, strides. */
static PyObject *lent(PyObject *module, PyObject *array) {
    (void)module;
    const DLPackExchangeAPI *table = table_for(array);
    DLTensor found;
    if (table == NULL || table->dltensor_from_py_object_no_sync(array, &found) != 0) {
        return NULL;
    }
    return described(&found);
}

/* Adds to each element of a vector of float64 that is lent. */
static PyObject *add(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *array;
    double value;
    DLTensor found;
    if (!PyArg_ParseTuple(arguments, "Od", &array, &value)) {
        return NULL;
    }
    const DLPackExchangeAPI *table = table_for(array);
    if (table == NULL || table->dltensor_from_py_object_no_sync(array, &found) != 0) {
        return NULL;
    }
    char *element = (char *)found.data + found.byte_offset;
    for (int64_t i = 0; i < found.shape[0]; i++) {
        *(double *)(element + i * found.strides[0] * (int64_t)sizeof(double)) += value;
    }
    Py_RETURN_NONE;
}

static void forget(PyObject *capsule) {
    DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "kept");
    managed->deleter(managed);
}

/* Exports an array, and keeps it in a capsule of its own, with its flags. */
static PyObject *keep(PyObject *module, PyObject *array) {
    (void)module;
    const DLPackExchangeAPI *table = table_for(array);
    DLManagedTensorVersioned *managed;
    if (table == NULL || table->managed_tensor_from_py_object_no_sync(array, &managed) != 0) {
        return NULL;
    }
    return Py_BuildValue("NKN", PyCapsule_New(managed, "kept", forget), (unsigned long long)managed->flags,
                         described(&managed->dl_tensor));
}

static int import(const DLPackExchangeAPI *table, DLManagedTensorVersioned *managed, PyObject **made) {
    void *object = NULL;
    int status = table->managed_tensor_to_py_object_no_sync(managed, &object);
    *made = object;
    if (status != 0 && managed->deleter != NULL) {
        /* It stays whose it was. */
        managed->deleter(managed);
    }
    return status;
}

/* Exports an array by the table of its type, and imports it by that of a type. */
static PyObject *through(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *array, *type, *made;
    if (!PyArg_ParseTuple(arguments, "OO", &array, &type)) {
        return NULL;
    }
    const DLPackExchangeAPI *from = table_for(array);
    const DLPackExchangeAPI *to = from == NULL ? NULL : table_of(type);
    DLManagedTensorVersioned *managed;
    if (to == NULL || from->managed_tensor_from_py_object_no_sync(array, &managed) != 0) {
        return NULL;
    }
    return import(to, managed, &made) == 0 ? made : NULL;
}

static int deleted = 0;

static void count_and_free(DLManagedTensorVersioned *managed) {
    deleted++;
    free(managed);
}

/* Imports two numbers, of which a mistake is told: dtype code and bits, the major version, an offset in bytes. The
 * answer is the array; how often the owner was told is `deletions`. */
static PyObject *foreign(PyObject *module, PyObject *arguments) {
    (void)module;
    static double values[4] = {1.0, 2.0, 3.0, 4.0};
    static int64_t shape[1] = {2}, strides[1] = {1};
    PyObject *type, *made;
    int code, bits, major, offset, read_only;
    if (!PyArg_ParseTuple(arguments, "Oiiiip", &type, &code, &bits, &major, &offset, &read_only)) {
        return NULL;
    }
    const DLPackExchangeAPI *table = table_of(type);
    DLManagedTensorVersioned *managed = table == NULL ? NULL : calloc(1, sizeof *managed);
    if (managed == NULL) {
        return NULL;
    }
    managed->version.major = (uint32_t)major;
    managed->deleter = count_and_free;
    managed->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    managed->dl_tensor = (DLTensor){values, {kDLCPU, 0}, 1, {(uint8_t)code, (uint8_t)bits, 1}, shape, strides,
                                    (uint64_t)offset};
    return import(table, managed, &made) == 0 ? made : NULL;
}

static PyObject *deletions(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return PyLong_FromLong(deleted);
}

/* Told of an error by a function that has no interpreter lock. */
static void tell(void *context, const char *kind, const char *message) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *class = builtins == NULL ? NULL : PyObject_GetAttrString(builtins, kind);
    (*(int *)context)++;
    if (class != NULL) {
        PyErr_SetString(class, message);
    }
    Py_XDECREF(class);
    Py_XDECREF(builtins);
    PyGILState_Release(state);
}

/* Makes an array of a shape, dtype and device, fills its bytes with a value where the host reaches them, and imports
 * it. */
static PyObject *allocate(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *type, *shape, *made;
    int code, bits, device, value, told = 0;
    if (!PyArg_ParseTuple(arguments, "OO!iiii", &type, &PyTuple_Type, &shape, &code, &bits, &device, &value)) {
        return NULL;
    }
    const DLPackExchangeAPI *table = table_of(type);
    if (table == NULL) {
        return NULL;
    }
    int64_t sizes[8], elements = 1;
    int32_t ndim = (int32_t)PyTuple_Size(shape);
    for (int32_t axis = 0; axis < ndim; axis++) {
        sizes[axis] = PyLong_AsLongLong(PyTuple_GetItem(shape, axis));
        elements *= sizes[axis];
    }
    DLTensor prototype = {NULL, {(DLDeviceType)device, 0}, ndim, {(uint8_t)code, (uint8_t)bits, 1}, sizes, NULL, 0};
    DLManagedTensorVersioned *managed;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = table->managed_tensor_allocator(&prototype, &managed, &told, tell);
    Py_END_ALLOW_THREADS
    if (status != 0) {
        return told == 1 ? NULL : PyErr_Format(PyExc_SystemError, "told %d times", told);
    }
    if (device == kDLCPU) {
        memset(managed->dl_tensor.data, value, (size_t)elements * (size_t)bits / 8);
    }
    return import(table, managed, &made) == 0 ? made : NULL;
}

/* The stream of a device: null is one. */
static PyObject *stream(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *type;
    int device_type, device_id;
    void *found = &found;
    if (!PyArg_ParseTuple(arguments, "Oii", &type, &device_type, &device_id)) {
        return NULL;
    }
    const DLPackExchangeAPI *table = table_of(type);
    if (table == NULL || table->current_work_stream((DLDeviceType)device_type, device_id, &found) != 0) {
        return NULL;
    }
    return PyLong_FromVoidPtr(found);
}

static PyMethodDef methods[] = {
    {"version", version, METH_O, NULL},
    {"lent", lent, METH_O, NULL},
    {"add", add, METH_VARARGS, NULL},
    {"keep", keep, METH_O, NULL},
    {"through", through, METH_VARARGS, NULL},
    {"foreign", foreign, METH_VARARGS, NULL},
    {"deletions", deletions, METH_NOARGS, NULL},
    {"allocate", allocate, METH_VARARGS, NULL},
    {"stream", stream, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "exchange", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_exchange(void) {
    return PyModule_Create(&definition);
}
