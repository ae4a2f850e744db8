/* An extension of Python that hands objects through the C interface. */
#include <millpond_python.h>

/* The same object by way of a handle; None for what has none. */
static PyObject *through(PyObject *module, PyObject *object) {
    (void)module;
#define THROUGH(type)                                                                                                  \
    if (mp_##type##_check(object)) {                                                                                   \
        mp_##type *handle = mp_##type##_from_python(object);                                                           \
        PyObject *result = handle == NULL ? NULL : mp_##type##_to_python(handle);                                      \
        mp_##type##_release(handle);                                                                                   \
        return result;                                                                                                 \
    }
    THROUGH(array)
    THROUGH(memory)
    THROUGH(queue)
    THROUGH(event)
    THROUGH(gate)
    THROUGH(device)
    THROUGH(pool)
    Py_RETURN_NONE;
}

/* A queue of what may be none. */
static PyObject *queue_of(PyObject *module, PyObject *object) {
    (void)module;
    mp_queue *queue = mp_queue_from_python(object == Py_None ? NULL : object);
    if (queue == NULL) {
        return NULL;
    }
    mp_queue_release(queue);
    Py_RETURN_TRUE;
}

/* Where an array's elements are, and their steps in elements. */
static PyObject *describe(PyObject *module, PyObject *object) {
    (void)module;
    mp_array *array = mp_array_from_python(object);
    if (array == NULL) {
        return NULL;
    }
    void *data = NULL;
    size_t ndim = 0, offset = 0;
    const ptrdiff_t *strides = NULL;
    bool read_only = false;
    PyObject *steps = NULL, *result = NULL;
    if (mp_check(mp_array_data(array, &data)) < 0 || mp_check(mp_array_ndim(array, &ndim)) < 0 ||
        mp_check(mp_array_offset(array, &offset)) < 0 || mp_check(mp_array_strides(array, &strides)) < 0 ||
        mp_check(mp_array_is_read_only(array, &read_only)) < 0) {
        goto end;
    }
    steps = PyTuple_New((Py_ssize_t)ndim);
    for (size_t axis = 0; steps != NULL && axis < ndim; axis++) {
        PyTuple_SetItem(steps, (Py_ssize_t)axis, PyLong_FromSsize_t(strides[axis]));
    }
    if (steps != NULL) {
        result = Py_BuildValue("KNnO", (unsigned long long)(size_t)data, steps, (Py_ssize_t)offset,
                               read_only ? Py_True : Py_False);
    }
end:
    mp_array_release(array);
    return result;
}

/* Allocates from a pool, and lets go. */
static PyObject *allocate(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *pool_object, *queue_object;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(arguments, "OOn", &pool_object, &queue_object, &bytes)) {
        return NULL;
    }
    mp_pool *pool = mp_pool_from_python(pool_object);
    mp_queue *queue = pool == NULL ? NULL : mp_queue_from_python(queue_object);
    mp_memory *memory = NULL;
    PyObject *result = NULL;
    if (queue != NULL && mp_check(mp_memory_allocate_from(pool, queue, (size_t)bytes, &memory)) == 0) {
        result = mp_memory_to_python(memory);
        mp_memory_release(memory);
    }
    if (queue != NULL) {
        mp_queue_release(queue);
    }
    if (pool != NULL) {
        mp_pool_release(pool);
    }
    return result;
}

/* Waits for a queue with the interpreter lock held, as careless code does. */
static PyObject *wait_carelessly(PyObject *module, PyObject *object) {
    (void)module;
    mp_queue *queue = mp_queue_from_python(object);
    if (queue == NULL) {
        return NULL;
    }
    mp_status status = mp_queue_wait(queue);
    mp_queue_release(queue);
    if (mp_check(status) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *handles(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    size_t count = 0;
    return mp_check(mp_handle_count(&count)) < 0 ? NULL : PyLong_FromSize_t(count);
}

static PyMethodDef methods[] = {
    {"through", through, METH_O, NULL},
    {"queue_of", queue_of, METH_O, NULL},
    {"describe", describe, METH_O, NULL},
    {"allocate", allocate, METH_VARARGS, NULL},
    {"wait_carelessly", wait_carelessly, METH_O, NULL},
    {"handles", handles, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "probe", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_probe(void);

PyMODINIT_FUNC PyInit_probe(void) {
    if (mp_import() < 0) {
        return NULL;
    }
    return PyModule_Create(&definition);
}
