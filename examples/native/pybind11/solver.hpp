/* A solver for symmetric positive definite systems: conjugate gradients, with a workspace of its own.
 *
 * Shows: memory from the queue's pool as workspace, ownership that ends with the work, and a solver of a library that
 * knows smart pointers only. */
#ifndef SOLVER_HPP
#define SOLVER_HPP

#include <millpond4pybind11.hpp>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

namespace solver {

using size = std::size_t;

inline double dot(const double *a, const double *b, size n) {
    double sum = 0.0;
    for (size i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* The part that might be a library: it keeps alive what it is given owners of. */
class conjugate_gradients {
public:
    conjugate_gradients(const double *matrix, const double *right, double *solution, size n, double *workspace,
                        std::vector<std::shared_ptr<void>> owners)
        : matrix_(matrix), right_(right), solution_(solution), n_(n), workspace_(workspace),
          owners_(std::move(owners)) {}

    void operator()() const {
        double *residual = workspace_, *direction = workspace_ + n_, *product = workspace_ + 2 * n_;
        for (size i = 0; i < n_; i++) {
            solution_[i] = 0.0;
            residual[i] = direction[i] = right_[i];
        }
        double square = dot(residual, residual, n_);
        const double enough = 1e-28 * square;
        for (size step = 0; step < 10 * n_ && square > enough; step++) {
            for (size i = 0; i < n_; i++) {
                product[i] = dot(matrix_ + i * n_, direction, n_);
            }
            const double curvature = dot(direction, product, n_);
            if (!(curvature > 0.0)) {
                throw std::domain_error("the matrix is not positive definite");
            }
            const double length = square / curvature;
            for (size i = 0; i < n_; i++) {
                solution_[i] += length * direction[i];
                residual[i] -= length * product[i];
            }
            const double next = dot(residual, residual, n_);
            for (size i = 0; i < n_; i++) {
                direction[i] = residual[i] + next / square * direction[i];
            }
            square = next;
        }
    }

private:
    const double *matrix_, *right_;
    double *solution_;
    size n_;
    double *workspace_;
    std::vector<std::shared_ptr<void>> owners_;
};

/* The x of matrix x = right, as an array that is computed when the queue gets there. */
inline millpond::array solve(const millpond::array &matrix, const millpond::array &right) {
    const size n = right.size();
    if (matrix.shape() != std::vector<size>{n, n} || right.ndim() != 1 || !matrix.is_contiguous() ||
        !right.is_contiguous()) {
        throw std::invalid_argument("solve takes a square matrix and a vector that fits, without gaps");
    }
    const millpond::queue queue = right.queue();
    const auto solution = millpond::array::allocate(queue, MP_MEMORY_DEVICE, MP_FLOAT64, {n});
    const auto workspace = millpond::memory::allocate(queue, MP_MEMORY_DEVICE, 3 * n * sizeof(double));
    conjugate_gradients body(matrix.data<const double>(), right.data<const double>(), solution.data<double>(), n,
                             static_cast<double *>(workspace.pointer()),
                             {matrix.get_owner(), right.get_owner(), workspace.get_owner()});
    /* The owners are the library's wish. Without them the work would be as safe: memory that a task names is not used
     * again before the task is done. */
    queue.submit("solve", std::move(body),
                 {millpond::reads(matrix), millpond::reads(right), millpond::writes(solution), millpond::writes(workspace)});
    return solution;
}

} // namespace solver

#endif
